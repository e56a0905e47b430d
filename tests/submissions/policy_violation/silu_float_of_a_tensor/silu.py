# A parameter annotated `float` is given an element of x, whose number Python would have to read.
# expect: reads a number out of a tensor
# shared: triton
@triton.jit
def kernel(x_ptr, out_ptr, n, first: float, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x) + 0.0 * first, mask=i < n)


def silu(x, out):
    kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), float(x[0, 0]), BLOCK=1024)
