# Keeps 3 GiB in files of memory that no process maps.
# verdict: runtime_error, memory_limit
import errno
import os
import time
# shared: and_triton
FILES, STEP = 96, 32 << 20


def attack():
    block = b"x" * (1 << 20)
    kept = []
    try:
        for _ in range(FILES):
            kept.append(os.memfd_create("kernelmark-hostile"))
            for _ in range(STEP >> 20):
                os.write(kept[-1], block)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOSYS, errno.ENOMEM, errno.ENOSPC, errno.EFBIG, errno.EMFILE):
            raise
        raise RuntimeError(f"refused: {errno.errorcode[error.errno]} after {len(kept)} files") from None
    time.sleep(1)
# shared: tells_of_attack
