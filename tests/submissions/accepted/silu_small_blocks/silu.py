# Naive but right: blocks of 128, one warp each.
# shared: triton
@triton.jit
def kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    s = 1 / (1 + tl.exp(-v))
    tl.store(out + i, v * s, mask=i < n)


def silu(x, out):
    n = x.numel()
    kernel[(n + 127) // 128,](x, out, n, 128, num_warps=1)
