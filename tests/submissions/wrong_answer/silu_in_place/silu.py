# Works in place on x and never touches out.
# expect: wrong pointer
# never: triton.cdiv
# shared: triton
@triton.jit
def silu_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(x_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, n, BLOCK=1024)
