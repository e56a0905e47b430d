# A grid of one axis for a kernel that takes two.
# expect: has the grid a second size
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    offs = rows[:, None] * N + cols[None, :]
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=mask)


def silu(x, out):
    M, N = x.shape
    silu_kernel[(triton.cdiv(M, 16),)](x, out, M, N, BM=16, BN=64)
