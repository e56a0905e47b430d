# tl.rms does not exist.
# expect: rms
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, x / tl.rms(x, eps) * tl.load(w_ptr + offs, mask=offs < n), mask=offs < n)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    rmsnorm_kernel[(1,)](x, weight, out, n, eps, BLOCK=triton.next_power_of_2(n))
