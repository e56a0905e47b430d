# Pairs are made by a reshape that may put its elements in any order, and stored as if it had not.
# expect: may give its elements in any order
# expect: Leave can_reorder out
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    i = first + tl.arange(0, BLOCK)
    x = tl.reshape(tl.load(x_ptr + i, mask=i < n), (BLOCK // 2, 2), can_reorder=True)
    at = first + 2 * tl.arange(0, BLOCK // 2)[:, None] + tl.arange(0, 2)[None, :]
    tl.store(out_ptr + at, x * tl.sigmoid(x), mask=at < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
