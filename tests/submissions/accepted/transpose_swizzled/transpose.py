# A one-dimensional grid, swizzled in groups of tiles; out is zeroed first out of caution.
# shared: triton
@triton.jit
def transpose_swizzled(x_ptr, out_ptr, M, N, T: tl.constexpr, GROUP: tl.constexpr):
    tiles_m = tl.cdiv(M, T)
    tiles_n = tl.cdiv(N, T)
    pid = tl.program_id(0)
    tm, tn = tl.swizzle2d(pid // tiles_n, pid % tiles_n, tiles_m, tiles_n, GROUP)
    m = tm * T + tl.arange(0, T)
    n = tn * T + tl.arange(0, T)
    mask = (m[:, None] < M) & (n[None, :] < N)
    tile = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + n[None, :] * M + m[:, None], tile, mask=mask)


def transpose(x, out):
    out.zero_()
    M, N = x.shape
    tiles = triton.cdiv(M, 32) * triton.cdiv(N, 32)
    transpose_swizzled[(tiles,)](x, out, M, N, T=32, GROUP=4)
