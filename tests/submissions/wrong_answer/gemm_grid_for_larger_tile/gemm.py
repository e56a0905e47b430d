# The grid is counted in tiles of 128, the kernel works on tiles of 64.
# expect: covers only the first 64
# proved: line 27 makes every case right: a different grid
# never: exchanged
# never: //
# never: mask
# shared: triton
# shared: gemm_kernel
def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    gemm_kernel[(triton.cdiv(M, 128), triton.cdiv(N, 128))](a, b, out, M, N, K, BM=64, BN=64, BK=32)
