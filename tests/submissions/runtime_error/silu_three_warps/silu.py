# Three warps, as 96 threads would be.
# expect: num_warps is 1, 2, 4
# never: an assertion of the submission
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 96),)](x, out, n, BLOCK=128, num_warps=3)
