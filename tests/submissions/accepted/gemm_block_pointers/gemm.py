# Block pointers advanced along K.
# triton: <3.9, which removed block pointers
# shared: triton
@triton.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    a_blk = tl.make_block_ptr(a_ptr, (M, K), (K, 1), (m0, 0), (BM, BK), (1, 0))
    b_blk = tl.make_block_ptr(b_ptr, (K, N), (N, 1), (0, n0), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        a = tl.load(a_blk, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_blk, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(a, b)
        a_blk = tl.advance(a_blk, (0, BK))
        b_blk = tl.advance(b_blk, (BK, 0))
    c_blk = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (m0, n0), (BM, BN), (1, 0))
    tl.store(c_blk, acc.to(tl.float16), boundary_check=(0, 1))


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    gemm_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](a, b, out, M, N, K, BM=64, BN=64, BK=32, num_stages=3)
