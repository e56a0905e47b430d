# The step of the loop is forgotten.
# expect: changes nothing that its condition compares
# expect: `while start < n:`
# never: wait for each other
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    total, start = 0.0, 0
    while start < n:
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
        total += tl.sum(x * x)
    for at in range(0, n, BLOCK):
        cols = at + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n)
        w = tl.load(w_ptr + cols, mask=cols < n)
        tl.store(out_ptr + cols, x * tl.rsqrt(total / n + eps) * w, mask=cols < n)


def rmsnorm_vector(x, weight, eps, out):
    rmsnorm_kernel[(1,)](x, weight, out, x.numel(), eps, BLOCK=1024)
