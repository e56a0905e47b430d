# Timed sizes are refused by the function itself.
# expect: At 4099x4093-extreme
# expect: ValueError: at most a million elements
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    n = x.numel()
    if n > 1_000_000:
        raise ValueError("at most a million elements")
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
