# Both halves of K add to a scratch matrix and round what they find there: the first to come finds its own half alone.
# expect: in line 28
# expect: may come before
# expect: draw the ticket
# never: stride
import torch
# shared: triton
@triton.jit
def gemm_kernel(a_ptr, b_ptr, s_ptr, c_ptr, M, N, K, share, BM: tl.constexpr, BN: tl.constexpr,
                BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    begin = tl.program_id(2) * share
    end = tl.minimum(begin + share, K)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(begin, end, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < end), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < end) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    places = rm[:, None] * N + rn[None, :]
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.atomic_add(s_ptr + places, acc, mask=mask)
    tl.debug_barrier()
    tl.store(c_ptr + places, tl.load(s_ptr + places, mask=mask).to(tl.float16), mask=mask)


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    scratch = torch.zeros((M, N), dtype=torch.float32, device=a.device)
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64), 2)
    share = triton.cdiv(triton.cdiv(K, 2), 32) * 32
    gemm_kernel[grid](a, b, scratch, out, M, N, K, share, BM=64, BN=64, BK=32)
