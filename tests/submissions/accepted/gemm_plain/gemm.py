# One program a tile of C, a masked loop along K, fp32 accumulation.
# shared: triton
# shared: gemm_kernel
def gemm(a, b, out):
    M, K = a.shape
    _, N = b.shape
    gemm_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](a, b, out, M, N, K, BM=64, BN=64, BK=32)
