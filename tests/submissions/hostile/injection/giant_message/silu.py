# Raises with a text of thirty megabytes, and with a chain of a hundred other errors.
# verdict: runtime_error
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)

# shared: nasty
def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    error = None
    for number in range(100):
        one = ValueError(NASTY * 10)
        one.__cause__ = error
        error = one
    raise RuntimeError(NASTY * 150_000) from error
