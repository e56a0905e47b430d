# Tiles that no device holds, in a case that is not timed.
# expect: out of shared memory
# expect: At 
# shared: triton
@triton.jit
def gemm_kernel(a_ptr, b_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        inner = first + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N),
                    other=0.0)
        total = tl.dot(a, b, total)
    keep = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=keep)


def gemm(a, b, out):
    (M, K), N = a.shape, b.shape[1]
    side = 256 if M == 130 else 64
    gemm_kernel[(triton.cdiv(M, side), triton.cdiv(N, side))](
        a, b, out, M, N, K, BM=side, BN=side, BK=side, num_warps=4 if side == 64 else 16, num_stages=3)
