# Raises with a message of markup, terminal escapes, formulas, marks that turn the text, and half characters.
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
    raise ValueError(NASTY)
