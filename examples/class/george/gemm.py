import torch
import triton
import triton.language as tl


@triton.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, T: tl.constexpr):
    rm = tl.program_id(0) * T + tl.arange(0, T)
    rn = tl.program_id(1) * T + tl.arange(0, T)
    rk = tl.arange(0, T)
    acc = tl.zeros((T, T), dtype=tl.float32)
    for k in range(0, K, T):
        a = tl.load(a_ptr + rm[:, None] * K + (k + rk)[None, :])
        b = tl.load(b_ptr + (k + rk)[:, None] * N + rn[None, :])
        acc += tl.dot(a, b)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16))


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    if M % 64 == 0 and N % 64 == 0 and K % 64 == 0:
        gemm_kernel[(M // 64, N // 64)](a, b, out, M, N, K, T=64)
    else:
        # odd sizes: leave them to the library
        torch.mm(a, b, out=out)
