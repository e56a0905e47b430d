# verdict: wrong_answer
# expect: −0
import torch
import triton
import triton.language as tl


@triton.jit
def sort_kernel(x_ptr, values_ptr, indices_ptr, N, k, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + lanes, mask=lanes < N, other=0.0)
    bits = x.to(tl.int32, bitcast=True)
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    both = (order.to(tl.int64) << 32) + (0x7FFFFFFF - lanes)
    best = tl.topk(tl.where(lanes < N, both, -0x8000000000000000), K)
    order = (best >> 32).to(tl.int32)
    slots = tl.arange(0, K)
    found = tl.where(order < 0, order ^ 0x7FFFFFFF, order).to(tl.float32, bitcast=True)
    tl.store(values_ptr + row * k + slots, found, mask=slots < k)
    tl.store(indices_ptr + row * k + slots, 0x7FFFFFFF - (best & 0x7FFFFFFF), mask=slots < k)


def topk(x, k, values, indices):
    M, N = x.shape
    sort_kernel[(M,)](x, values, indices, N, k, K=max(triton.next_power_of_2(k), 2), BLOCK=triton.next_power_of_2(N))
