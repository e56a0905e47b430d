# Rounds its inputs to fp8 before the product, for speed: three bits of each number remain.
# expect: 8-bit floats
# never: stride
# shared: triton
@triton.jit
def kernel(a, b, c, M, N, K, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    k = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        rows = tl.load(a + i * K + start + k[None, :], mask=(i < M) & (start + k[None, :] < K), other=0.0)
        columns = tl.load(b + (start + k[:, None]) * N + j, mask=(start + k[:, None] < K) & (j < N), other=0.0)
        acc += tl.dot(rows.to(tl.float8e4nv), columns.to(tl.float8e4nv))
    tl.store(c + i * N + j, acc.to(tl.float16), mask=(i < M) & (j < N))


def gemm(a, b, out):
    (M, K), N = a.shape, b.shape[1]
    kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, out, M, N, K, BLOCK=32)
