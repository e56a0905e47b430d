# Leaves folders 2,000 levels deep behind, so that whoever removes them runs out of stack or of path.
# verdict: runtime_error
# expect: nested
import errno
import os
# shared: and_triton
LEVELS = 2_000


def attack():
    for level in range(LEVELS):
        try:
            os.mkdir("d")
            os.chdir("d")
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES):
                raise
            raise RuntimeError(f"refused: {errno.errorcode[error.errno]} with {level} nested folders") from None
    raise RuntimeError(f"left {LEVELS} nested folders to be removed")
# shared: tells_of_attack
