# verdict: wrong_answer
# expect: later block first
import torch
import triton
import triton.language as tl


@triton.jit
def topk_kernel(x_ptr, values_ptr, indices_ptr, N, k, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    last = float("inf")
    last_col = -1
    for r in range(k):
        best = float("-inf")
        best_col = N
        for start in range(0, N, BLOCK):
            c = start + cols
            x = tl.load(x_ptr + row * N + c, mask=c < N, other=-float("inf"))
            # only what comes after the one taken last
            ok = (x < last) | ((x == last) & (c > last_col))
            x = tl.where(ok, x, -float("inf"))
            m = tl.max(x, axis=0)
            first = tl.min(tl.where(x == m, c, N), axis=0)
            if m >= best:
                best = m
                best_col = first
        tl.store(values_ptr + row * k + r, best)
        tl.store(indices_ptr + row * k + r, best_col.to(tl.int64))
        last = best
        last_col = best_col


def topk(x, k, values, indices):
    M, N = x.shape
    BLOCK = min(4096, triton.next_power_of_2(N))
    topk_kernel[(M,)](x, values, indices, N, k, BLOCK=BLOCK)
