# Makes a file of 1 TiB that holds nothing, to burst what copies it.
# verdict: runtime_error
# expect: refused
import errno
from pathlib import Path

# shared: triton
def attack():
    path = Path("kernelmark-hostile")
    with path.open("wb") as file:
        try:
            file.truncate(1 << 40)
        except OSError as error:
            if error.errno not in (errno.EFBIG, errno.ENOSPC, errno.EPERM, errno.EINVAL):
                raise
            raise RuntimeError(f"refused: {errno.errorcode[error.errno]}") from None
# shared: tells_of_attack
