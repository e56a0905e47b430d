# Opens 5,000 descriptors.
# verdict: runtime_error
# expect: refused
import errno
from pathlib import Path

import triton
import triton.language as tl


def attack():
    kept = []
    try:
        for _ in range(5_000):
            kept.append(Path("kernelmark-hostile").open("wb"))
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        text = f"refused: {errno.errorcode[error.errno]} after {len(kept)}"
        kept.clear()
        raise RuntimeError(text) from None


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
