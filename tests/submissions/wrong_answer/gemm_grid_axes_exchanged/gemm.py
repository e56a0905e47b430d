# The grid counts columns first, the kernel rows.
# proved: a different axis in lines 11 and 12 together, or a different grid in line 25
# never: the mask of
# never: rounds down
# shared: triton
# shared: gemm_kernel
def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    grid = (triton.cdiv(N, 32), triton.cdiv(M, 64))
    gemm_kernel[grid](a, b, out, M, N, K, BM=64, BN=32, BK=32)
