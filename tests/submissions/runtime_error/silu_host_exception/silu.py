# An exception in host code, for a size that the author did not expect.
# expect: raises this
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    if n % 1024 != 0:
        raise ValueError(f"{n} elements are not a multiple of 1024")
    silu_kernel[(n // 1024,)](x, out, n, BLOCK=1024)
