# The mean is subtracted first, as in LayerNorm.
# expect: LayerNorm
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def layer_norm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    total = 0.0
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x_ptr + offs, mask=offs < n, other=0.0), axis=0)
    mean = total / n
    squares = 0.0
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.where(offs < n, tl.load(x_ptr + offs, mask=offs < n, other=0.0) - mean, 0.0)
        squares += tl.sum(x * x, axis=0)
    rstd = tl.rsqrt(squares / n + eps)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
        w = tl.load(w_ptr + offs, mask=mask, other=0.0)
        tl.store(out_ptr + offs, (x - mean) * rstd * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    layer_norm_kernel[(1,)](x, weight, out, x.numel(), eps, BLOCK=2048)
