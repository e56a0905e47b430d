# The mask compares the flat offset with the number of rows rather than of elements.
# expect: the mask of the store
# never: triton.cdiv
# never: exchanged
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < size)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < size)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.shape[0], BLOCK=1024)
