# The grid has a single program, whatever the size.
# expect: starts 1 program
# expect: covers the first 256 alone
# never: exchanged
# never: the mask of
# never: depend
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x / (1 + tl.exp(-x)), mask=offs < n)


def silu(x, out):
    silu_kernel[(1,)](x, out, x.numel(), BLOCK=256)
