# Leaves folders 2,000 levels deep behind, so that whoever removes them runs out of stack or of path.
# verdict: runtime_error
# expect: folders inside each other
import errno
import os

import triton
import triton.language as tl

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
