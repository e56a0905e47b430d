# other=1.0 in the masked load: the padding lanes count in the sum of squares.
# expect: entered the sum as ones
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    acc = 0.0
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=1.0)
        acc += tl.sum(x * x)
    rstd = tl.rsqrt(acc / n + eps)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask)
        tl.store(out_ptr + offs, x * rstd * tl.load(w_ptr + offs, mask=mask), mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    rmsnorm_kernel[(1,)](x, weight, out, x.numel(), eps, BLOCK=4096)
