# The same in the name of an exception's class and of a function, and very long ones.
# verdict: runtime_error
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)

# shared: nasty
class Evil(Exception):
    def __str__(self):
        return NASTY * 1000


Evil.__name__ = Evil.__qualname__ = "<script>alert(1)</script>" * 500


def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    raise Evil
