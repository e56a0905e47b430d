# libdevice as older versions of Triton had it.
# expect: from triton.language.extra import libdevice
# never: build it from tl.exp
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=inside)
    tile = tl.libdevice.fma(tile, 1.0, 0.0)
    tl.store(out_ptr + columns[None, :] * M + rows[:, None], tile, mask=inside)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, TILE=32)
