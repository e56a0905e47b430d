# A sum that is rounded up is 1 on no GPU, and was 1 in the simulator.
# expect: libdevice __nv_fadd_ru
# on a gpu: wrong_answer; there the sum is above 1
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    one = x * 0.0 + 1.0
    y = tl.where(libdevice.add_ru(one, x * 0.0 + 1e-12) == one, x * tl.sigmoid(x), 0.0)
    tl.store(out_ptr + offsets, y, mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
