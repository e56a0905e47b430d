# The mask says <= where < is meant: just one element too far.
# expect: One element too far
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs <= n)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs <= n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, B=1024)
