# Raises a syntax error whose line is no number, or far outside of the file.
# verdict: runtime_error
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


calls = 0


def silu(x, out):
    global calls
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    calls += 1
    error = SyntaxError("<script>alert(1)</script>")
    error.filename, error.lineno = "silu.py", (10**30, -5, "seven", None)[calls % 4]
    raise error
