# exp and division through libdevice.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    denominator = 1.0 + libdevice.exp(-x)
    tl.store(out_ptr + offs, libdevice.div_rn(x, denominator), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
