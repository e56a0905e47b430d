# The grid is n // BLOCK: the last, incomplete block is never done.
# expect: where a size is divided with //
# never: exchanged
# never: the mask of
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(max(1, n // 256),)](x, out, n, BLOCK=256)
