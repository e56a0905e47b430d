# Keeps 1.75 GiB of its own, and 2.75 GiB in shared memory of which it maps a page: the rest is not freed by that.
# verdict: runtime_error, memory_limit, time_limit
import errno
import mmap
import time
# shared: and_triton
OWN, PIECES, SIZE = 1792 << 20, 44, 64 << 20


def attack():
    own, kept, block = b"x" * OWN, [], b"x" * SIZE
    try:
        for _ in range(PIECES):
            kept.append(mmap.mmap(-1, SIZE))
            kept[-1].write(block)
            kept[-1].resize(mmap.PAGESIZE)
    except OSError as error:
        if error.errno not in (errno.ENOMEM, errno.EPERM, errno.EACCES, errno.ENOSYS):
            raise
        raise RuntimeError(f"refused: {errno.errorcode[error.errno]} after {len(kept)} pieces") from None
    time.sleep(0.5)
    del own
# shared: tells_of_attack
