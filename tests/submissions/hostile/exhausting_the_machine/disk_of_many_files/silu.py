# Fills the disk with files of 1 MiB, each below the limit: 512 MiB.
# verdict: runtime_error, memory_limit
import errno
import time
from pathlib import Path
# shared: and_triton
FILES = 512


def attack():
    block = b"x" * (1 << 20)
    for number in range(FILES):
        try:
            with Path(f"kernelmark-hostile-{number}").open("wb", buffering=0) as file:
                written = file.write(block)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS):
                raise
            raise RuntimeError(f"refused: {errno.errorcode[error.errno]} after {number} files") from None
        if written < len(block):
            raise RuntimeError(f"refused: short write after {number} files")
    time.sleep(1)
# shared: tells_of_attack
