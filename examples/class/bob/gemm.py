import triton
import triton.language as tl


@triton.jit
def my_gemm(a, b, c, M, N, K, T: tl.constexpr):
    # 16 is the smallest tile that tl.dot takes
    i = tl.program_id(0) * T + tl.arange(0, T)
    j = tl.program_id(1) * T + tl.arange(0, T)
    s = tl.zeros((T, T), dtype=tl.float32)
    for k0 in range(0, K, T):
        k = k0 + tl.arange(0, T)
        ta = tl.load(a + i[:, None] * K + k[None, :], mask=(i[:, None] < M) & (k[None, :] < K), other=0.0)
        tb = tl.load(b + k[:, None] * N + j[None, :], mask=(k[:, None] < K) & (j[None, :] < N), other=0.0)
        s += tl.dot(ta, tb)
    tl.store(c + i[:, None] * N + j[None, :], s.to(tl.float16), mask=(i[:, None] < M) & (j[None, :] < N))


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    my_gemm[((M + 15) // 16, (N + 15) // 16)](a, b, out, M, N, K, 16)
