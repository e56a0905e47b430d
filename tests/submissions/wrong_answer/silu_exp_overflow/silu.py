# x * exp(x) / (1 + exp(x)): infinity over infinity is NaN for large x.
# expect: exp overflows
# never: triton.cdiv
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    e = tl.exp(x)
    tl.store(out_ptr + offs, x * e / (1.0 + e), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
