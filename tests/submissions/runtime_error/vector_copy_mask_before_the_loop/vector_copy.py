# The mask is that of a program's first tile, and the offsets move on.
# expect: computes `inside` once, before the loop, and `at` moves on
# expect: Compute `inside` anew in each round, before line
# never: left there
# shared: triton
@triton.jit
def copy_kernel(x_ptr, out_ptr, n, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE * 4 + tl.arange(0, TILE)
    inside = at < n
    for _ in tl.static_range(4):
        tl.store(out_ptr + at, tl.load(x_ptr + at, inside), inside)
        at += TILE


def vector_copy(x, out):
    n = x.numel()
    copy_kernel[(triton.cdiv(n, 1024),)](x, out, n, TILE=256)
