# What is promised of the offsets holds, whatever the sizes.
# never: not so
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK)
    i = tl.max_contiguous(tl.multiple_of(first + tl.arange(0, BLOCK), BLOCK), BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
