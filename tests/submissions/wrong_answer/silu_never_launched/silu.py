# The kernel is chosen and never launched: the last brackets are missing.
# expect: The kernel was never launched
# never: triton.cdiv
# shared: triton
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    kernel[(triton.cdiv(x.numel(), 1024),)]
