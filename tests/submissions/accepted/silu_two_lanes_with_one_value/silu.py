# Each element is stored by two lanes, both with the same value.
# never: Several lanes
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, 2 * BLOCK)
    i = tl.program_id(0) * BLOCK + lanes % BLOCK
    x = tl.load(x_ptr + i, mask=i < n)
    y = x * tl.sigmoid(x)
    tl.store(out_ptr + i, y, mask=i < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
