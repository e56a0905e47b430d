# The reduction runs over whole blocks only and leaves out the tail.
# expect: partial block is missing from the sum
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for block in range(0, n // BLOCK):
        x = tl.load(x_ptr + block * BLOCK + tl.arange(0, BLOCK))
        acc += x * x
    rstd = tl.rsqrt(tl.sum(acc) / n + eps)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask)
        tl.store(out_ptr + offs, x * rstd * tl.load(w_ptr + offs, mask=mask), mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    rmsnorm_kernel[(1,)](x, weight, out, x.numel(), eps, BLOCK=1024)
