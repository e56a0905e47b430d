# verdict: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def largest_kernel(x_ptr, values_ptr, indices_ptr, N, k, BLOCK: tl.constexpr):
    # Nothing is removed: the next is the largest of those that come after the last one in the order that is asked for.
    row = tl.program_id(0).to(tl.int64)
    last = float("inf")
    last_column = -1
    for turn in range(k):
        best = -float("inf")
        best_column = N
        for first in range(0, N, BLOCK):
            column = first + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * N + column, mask=column < N, other=-float("inf"))
            left = (x < last) | ((x == last) & (column > last_column))
            largest = tl.max(tl.where(left, x, -float("inf")), axis=0)
            where = tl.min(tl.where(left & (x == largest), column, N), axis=0)
            best_column = tl.where(largest > best, where, best_column)
            best = tl.maximum(best, largest)
        tl.store(values_ptr + row * k + turn, best)
        tl.store(indices_ptr + row * k + turn, best_column)
        last = best
        last_column = best_column


def topk(x: torch.Tensor, k: int, values: torch.Tensor, indices: torch.Tensor) -> None:
    M, N = x.shape
    largest_kernel[(M,)](x, values, indices, N, k, BLOCK=min(triton.next_power_of_2(N), 1024))
