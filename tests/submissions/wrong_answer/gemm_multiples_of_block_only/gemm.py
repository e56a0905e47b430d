# Whole tiles only: right where every size is a multiple of 32, empty elsewhere.
# expect: covers only the first 32
# never: exchanged
# never: the mask of
# shared: triton
# shared: gemm_kernel
def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    gemm_kernel[(max(1, M // 32), max(1, N // 32))](a, b, out, M, N, K, BM=32, BN=32, BK=32)
