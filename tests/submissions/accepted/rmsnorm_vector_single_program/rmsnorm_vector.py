# One program loops over the vector twice: slow on a GPU, and right.
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        acc += x * x
    rstd = 1.0 / tl.sqrt(tl.sum(acc, axis=0) / n + eps)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask)
        w = tl.load(w_ptr + offs, mask=mask)
        tl.store(out_ptr + offs, x * rstd * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    rmsnorm_kernel[(1,)](x, weight, out, x.shape[0], eps, BLOCK=4096)
