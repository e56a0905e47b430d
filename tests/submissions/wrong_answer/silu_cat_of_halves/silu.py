# Two halves are joined by tl.cat, which may put its elements in any order, and stored as if it had not.
# expect: may give its elements in any order
# expect: tl.join
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    left = first + tl.arange(0, BLOCK // 2)
    right = left + BLOCK // 2
    x = tl.cat(tl.load(x_ptr + left, mask=left < n), tl.load(x_ptr + right, mask=right < n), can_reorder=True)
    i = first + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
