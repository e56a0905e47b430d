# A thread for each element of a block of 2048, by 64 warps.
# expect: num_warps is 1, 2, 4
# never: smaller blocks
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n, BLOCK = x.numel(), 2048
    silu_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK, num_warps=BLOCK // 32)
