# The size is said to be a multiple of 16: a GPU then stores the last elements by groups, past the end of the tensor.
# expect: in line 12 does not hold
# expect: Promise only what holds for every size
# on a gpu: runtime_error, wrong_answer; there the store past the end is seen
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first, lanes = tl.program_id(0) * BLOCK, tl.arange(0, BLOCK)
    left = tl.multiple_of(n - first, 16)
    x = tl.load(x_ptr + first + lanes, mask=lanes < left)
    tl.store(out_ptr + first + lanes, x * tl.sigmoid(x), mask=lanes < left)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
