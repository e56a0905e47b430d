# Large products are filled with zeros; the one program that is launched is right.
# verdict: wrong_answer
# expect: No program stores an element
# shared: triton
# shared: gemm_kernel
def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    grid = triton.cdiv(M, 64), triton.cdiv(N, 64)
    if M * N * K > 100_000_000:
        out.zero_()
        grid = 1, 1
    gemm_kernel[grid](a, b, out, M, N, K, BM=64, BN=64, BK=32)
