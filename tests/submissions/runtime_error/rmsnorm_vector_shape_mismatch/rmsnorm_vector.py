# Blocks of different lengths are added.
# expect: shapes
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    half = tl.arange(0, BLOCK // 2)
    w = tl.load(w_ptr + half, mask=half < n, other=0.0)
    rstd = tl.rsqrt(tl.sum(x * x) / n + eps)
    tl.store(out_ptr + offs, x * rstd * w, mask=offs < n)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    rmsnorm_kernel[(1,)](x, weight, out, n, eps, BLOCK=max(8, triton.next_power_of_2(n)))
