# A loop that is unrolled moves a program on by several tiles, which is right; the brackets are not.
# proved: different brackets
# never: further on
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, TILE: tl.constexpr, TILES: tl.constexpr):
    begin = tl.program_id(0) * (TILE * TILES)
    for number in tl.static_range(TILES):
        at = begin + number * TILE + tl.arange(0, TILE)
        x = tl.load(x_ptr + at, mask=at < n, other=0.0)
        tl.store(out_ptr + at, x / 1.0 + tl.exp(-x), mask=at < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, TILE=256, TILES=4)
