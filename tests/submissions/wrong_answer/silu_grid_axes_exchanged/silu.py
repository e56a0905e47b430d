# The grid counts columns first, the kernel rows.
# proved: a different axis in lines 10 and 11 together, or a different grid in line 20
# never: the mask of
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    offsets = rows[:, None] * N + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    M, N = x.shape
    silu_kernel[(triton.cdiv(N, 64), triton.cdiv(M, 16))](x, out, M, N, BM=16, BN=64)
