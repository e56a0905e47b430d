# verdict: wrong_answer
# expect: the later of equal numbers stands first
import torch
import triton
import triton.language as tl


@triton.jit
def largest_kernel(x_ptr, values_ptr, indices_ptr, N, k, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + lanes, mask=lanes < N, other=-float("inf"))
    for turn in range(k):
        largest = tl.max(x, axis=0)
        column = tl.max(tl.where(x == largest, lanes, -1), axis=0)
        tl.store(values_ptr + row * k + turn, largest)
        tl.store(indices_ptr + row * k + turn, column)
        x = tl.where(lanes == column, -float("inf"), x)


def topk(x, k, values, indices):
    M, N = x.shape
    largest_kernel[(M,)](x, values, indices, N, k, BLOCK=triton.next_power_of_2(N))
