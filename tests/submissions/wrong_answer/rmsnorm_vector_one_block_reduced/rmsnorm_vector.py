# Each program takes the mean square of its own block instead of the whole vector's.
# expect: its own mean square
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    w = tl.load(w_ptr + offs, mask=mask)
    rstd = tl.rsqrt(tl.sum(x * x) / tl.sum(mask.to(tl.float32)) + eps)
    tl.store(out_ptr + offs, x * rstd * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    rmsnorm_kernel[(triton.cdiv(n, 1024),)](x, weight, out, n, eps, BLOCK=1024)
