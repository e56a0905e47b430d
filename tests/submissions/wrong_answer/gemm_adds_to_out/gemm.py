# out = a @ b + beta * out, as BLAS has it: out holds nothing yet, and 0 times NaN is NaN.
# expect: 0 times NaN is NaN
# never: 65,504
# shared: triton
@triton.jit
def kernel(a, b, c, M, N, K, alpha, beta, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    k = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        rows = tl.load(a + i * K + start + k[None, :], mask=(i < M) & (start + k[None, :] < K), other=0.0)
        columns = tl.load(b + (start + k[:, None]) * N + j, mask=(start + k[:, None] < K) & (j < N), other=0.0)
        acc += tl.dot(rows, columns)
    mask = (i < M) & (j < N)
    old = tl.load(c + i * N + j, mask=mask, other=0.0)
    tl.store(c + i * N + j, (alpha * acc + beta * old).to(tl.float16), mask=mask)


def gemm(a, b, out, alpha=1.0, beta=0.0):
    (M, K), N = a.shape, b.shape[1]
    kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, out, M, N, K, alpha, beta, BLOCK=32)
