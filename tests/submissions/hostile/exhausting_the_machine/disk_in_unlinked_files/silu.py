# Fills the disk with 512 MiB in files that have no name any more, so that no listing shows them.
# verdict: runtime_error, memory_limit
import errno
import time
from pathlib import Path
# shared: and_triton
FILES, SIZE = 128, 4


def attack():
    kept, block = [], b"x" * (1 << 20)
    try:
        for _ in range(FILES):
            path = Path("kernelmark-hostile")
            kept.append(path.open("wb", buffering=0))
            path.unlink()
            for _ in range(SIZE):
                if kept[-1].write(block) < len(block):
                    raise OSError(errno.ENOSPC, "short write")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS):
            raise
        raise RuntimeError(f"refused: {errno.errorcode[error.errno]} after {len(kept)} files") from None
    time.sleep(1)
# shared: tells_of_attack
