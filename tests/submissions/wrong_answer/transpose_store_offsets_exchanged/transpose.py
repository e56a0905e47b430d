# Each program loads its tile and turns it, and stores it at the place that it was loaded from.
# expect: exchanged in the grid, or in the offsets of the store
# never: grid's axes are exchanged
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, TILE: tl.constexpr):
    i, j = tl.program_id(0) * TILE, tl.program_id(1) * TILE
    rows, cols = i + tl.arange(0, TILE), j + tl.arange(0, TILE)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=(rows[:, None] < M) & (cols[None, :] < N))
    mask = (rows[:, None] < N) & (cols[None, :] < M)
    tl.store(out_ptr + rows[:, None] * M + cols[None, :], tl.trans(x), mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, TILE=32)
