# verdict: wrong_answer
# expect: remove a single column
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
        tl.store(values_ptr + row * k + turn, largest)
        tl.store(indices_ptr + row * k + turn, tl.argmax(x, axis=0))
        x = tl.where(x == largest, -float("inf"), x)


def topk(x, k, values, indices):
    M, N = x.shape
    largest_kernel[(M,)](x, values, indices, N, k, BLOCK=triton.next_power_of_2(N))
