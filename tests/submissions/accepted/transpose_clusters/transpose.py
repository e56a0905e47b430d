# Two blocks of threads share a tile, as a cluster.
# shared: triton
@triton.jit
def kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(1) * BM + tl.arange(0, BM)[:, None]
    n = tl.program_id(0) * BN + tl.arange(0, BN)[None, :]
    tile = tl.load(x + m * N + n, mask=(m < M) & (n < N))
    tl.store(out + n * M + m, tile, mask=(m < M) & (n < N))


def transpose(x, out):
    M, N = x.shape
    kernel[(triton.cdiv(N, 64), triton.cdiv(M, 64))](x, out, M, N, BM=64, BN=64, num_warps=4, num_ctas=2)
