# One element a program: as many programs as elements, which a GPU takes and takes its time for.
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, BLOCK_SIZE: tl.constexpr):
    i = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x * tl.sigmoid(x))


def silu(x, out):
    silu_kernel[(x.numel(),)](x, out, BLOCK_SIZE=1)
