# Makes more empty files than any device's compiler may leave (32,768).
# verdict: runtime_error, memory_limit, time_limit
import errno
import time
from pathlib import Path
# shared: and_triton
FILES = 40_000


def attack():
    for number in range(FILES):
        try:
            Path(f"kernelmark-hostile-{number}").touch()
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS):
                raise
            raise RuntimeError(f"refused: {errno.errorcode[error.errno]} after {number} files") from None
    # Where the file system sets no bound they are counted, the more of them the more seldom.
    time.sleep(2.5)
# shared: tells_of_attack
