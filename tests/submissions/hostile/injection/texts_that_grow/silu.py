# Signs that take six bytes each in JSON, as many as are kept, in every text of every case.
# verdict: runtime_error
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    print("\x01" * 30_000)
    raise ValueError("\x02" * 30_000)
