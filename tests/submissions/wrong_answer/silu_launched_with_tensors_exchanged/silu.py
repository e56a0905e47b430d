# x and out change places in the launch.
# proved: two names exchanged in lines 13 and 14 together, or two parts exchanged in line 19
# never: beta
# never: left as they are
# never: NaN times 0
# shared: triton
@triton.jit
def silu_kernel(source, target, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(source + offs, mask=offs < n)
    tl.store(target + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](out, x, n, BLOCK=1024)
