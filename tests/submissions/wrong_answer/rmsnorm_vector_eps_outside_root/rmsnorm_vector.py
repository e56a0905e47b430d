# eps is added to the root rather than under it.
# expect: belongs inside
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        acc += x * x
    rms = tl.sqrt(tl.sum(acc) / n) + eps
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n
        y = tl.load(x_ptr + offs, mask=mask) / rms * tl.load(w_ptr + offs, mask=mask)
        tl.store(out_ptr + offs, y, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    rmsnorm_kernel[(1,)](x, weight, out, x.numel(), eps, BLOCK=8192)
