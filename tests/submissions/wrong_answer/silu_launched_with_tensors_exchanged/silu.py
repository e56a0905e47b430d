# x and out change places in the launch.
# expect: loads from out in line 14, and stores to x in line 15
# expect: the launch in line 20
# never: beta
# never: left as they are
# never: NaN times 0
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](out, x, n, BLOCK=1024)
