# Makes more empty files than any device's compiler may leave (32,768).
# verdict: runtime_error, memory_limit, time_limit
import errno
import time
from pathlib import Path

import triton
import triton.language as tl

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


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


try:
    attack()
except Exception as error:
    failed = error
else:
    failed = None


def silu(x, out):
    if failed is not None:
        raise failed
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
