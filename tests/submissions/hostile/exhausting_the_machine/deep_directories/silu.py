# Leaves folders 2,000 levels deep behind, so that whoever removes them runs out of stack or of path.
# verdict: runtime_error
# expect: folders nested more than
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
            raise RuntimeError(f"refused: {errno.errorcode[error.errno]} with {level} folders inside each other") from None
    raise RuntimeError(f"left {LEVELS} folders inside each other to be removed")
# shared: tells_of_attack
