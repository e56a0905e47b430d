# √2/π for √(2/π).
# expect: the root goes over all of it
import math

import torch
import triton
import triton.language as tl

SCALE = tl.constexpr(math.sqrt(2) / math.pi)

@triton.jit
def gelu_fwd(x_ptr, o_ptr, total, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    m = offsets < total
    x = tl.load(x_ptr + offsets, mask=m)
    inner = SCALE * (x + 0.044715 * x * x * x)
    # 0.5 * (1 + tanh(z)) == sigmoid(2 z)
    tl.store(o_ptr + offsets, x * tl.sigmoid(2.0 * inner), mask=m)

def gelu(x, out):
    total = x.numel()
    gelu_fwd[(triton.cdiv(total, 1024),)](x, out, total, BLOCK_SIZE=1024)
