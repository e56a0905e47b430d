# verdict: wrong_answer
# proved: delete a part of line 24
# never: mask of the store
import torch
import triton
import triton.language as tl


@triton.jit
def topk_kernel(x_ptr, values_ptr, indices_ptr, N, k, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf"))
    for r in range(k):
        best = tl.max(x, axis=0)
        at = tl.min(tl.where(x == best, cols, BLOCK), axis=0)
        tl.store(values_ptr + row * k + r, best)
        tl.store(indices_ptr + row * k + r, at)
        x = tl.where(cols == at, -float("inf"), x)


def topk(x, k, values, indices):
    M, N = x.shape
    topk_kernel[(M,)](x, values, indices.view(torch.int32), N, k, BLOCK=triton.next_power_of_2(N), num_warps=8)
