# verdict: accepted
import torch
import triton
import triton.language as tl

NONE = tl.constexpr(-0x8000000000000000)


@triton.jit
def running_kernel(x_ptr, values_ptr, indices_ptr, N, k, K: tl.constexpr, BLOCK: tl.constexpr):
    # The best K so far, as whole numbers that hold a float's order and, below it, its column from the right.
    row = tl.program_id(0).to(tl.int64)
    best = tl.full((K,), NONE, dtype=tl.int64)
    for first in range(0, N, BLOCK):
        column = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + column, mask=column < N, other=0.0) + 0.0
        bits = x.to(tl.int32, bitcast=True)
        order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
        both = tl.where(column < N, (order.to(tl.int64) << 32) + (0x7FFFFFFF - column), NONE)
        best = tl.topk(tl.cat(best, tl.topk(both, K), can_reorder=True), K)
    order = (best >> 32).to(tl.int32)
    x = tl.where(order < 0, order ^ 0x7FFFFFFF, order).to(tl.float32, bitcast=True)
    lanes = tl.arange(0, K)
    tl.store(values_ptr + row * k + lanes, x, mask=lanes < k)
    tl.store(indices_ptr + row * k + lanes, 0x7FFFFFFF - (best & 0x7FFFFFFF), mask=lanes < k)


def topk(x, k, values, indices):
    M, N = x.shape
    K = max(triton.next_power_of_2(k), 2)
    running_kernel[(M,)](x, values, indices, N, k, K=K, BLOCK=512)
