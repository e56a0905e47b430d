# The block size is multiplied in twice: the offset ends far outside of every tensor.
# expect: the offsets themselves are wrong
# never: has no mask
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = (tl.program_id(0) + 1) * BLOCK
    offs = start * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, x * tl.sigmoid(x))


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 4096),)](x, out, n, BLOCK=4096)
