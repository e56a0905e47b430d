# The maxima of the lanes are not reduced to one.
# expect: Each lane subtracts the maximum of its own elements
import torch
import triton
import triton.language as tl

@triton.jit
def softmax_3pass(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * N
    y_ptr += row * N
    idx = tl.arange(0, BLOCK)
    # pass 1: maximum
    m = tl.full((BLOCK,), float("-inf"), tl.float32)
    for s in range(0, N, BLOCK):
        x = tl.load(x_ptr + s + idx, mask=s + idx < N, other=float("-inf"))
        m = tl.maximum(m, x)
    # pass 2: denominator
    den = tl.zeros((BLOCK,), tl.float32)
    for s in range(0, N, BLOCK):
        mask = s + idx < N
        x = tl.load(x_ptr + s + idx, mask=mask, other=0.0)
        den += tl.where(mask, tl.exp(x - m), 0.0)
    total = tl.sum(den, axis=0)
    # pass 3: write
    for s in range(0, N, BLOCK):
        mask = s + idx < N
        x = tl.load(x_ptr + s + idx, mask=mask, other=0.0)
        tl.store(y_ptr + s + idx, tl.exp(x - m) / total, mask=mask)

def softmax(x, out):
    rows, N = x.shape
    softmax_3pass[(rows,)](x, out, N, BLOCK=1024)
