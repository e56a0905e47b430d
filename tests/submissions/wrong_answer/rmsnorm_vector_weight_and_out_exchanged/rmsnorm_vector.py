# The kernel gets out where it expects the weight.
# proved: two names exchanged in lines 19 and 20 together, or two parts exchanged in line 24
# never: left as they are
# shared: triton
@triton.jit
def rmsnorm_vector_kernel(x_ptr, weight_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    total = 0.0
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        total += tl.sum(x * x)
    scale = 1 / tl.sqrt(total / n + eps)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n)
        weight = tl.load(weight_ptr + offs, mask=offs < n)
        tl.store(out_ptr + offs, x * scale * weight, mask=offs < n)


def rmsnorm_vector(x, weight, eps, out):
    rmsnorm_vector_kernel[(1,)](x, out, weight, x.numel(), eps, BLOCK=1024)
