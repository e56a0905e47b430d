# Each element is stored by two lanes: zero by the first of them, and the answer by the second.
# expect: Several lanes of one store in line 15
# expect: left to chance
# never: Programs
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, 2 * BLOCK)
    i = tl.program_id(0) * BLOCK + lanes % BLOCK
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.where(lanes < BLOCK, 0.0, x * tl.sigmoid(x))
    tl.store(out_ptr + i, y, mask=i < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
