# PyTorch computes beside a kernel.
# verdict: policy_violation
# expect: computes with
import torch
import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
    out.copy_(x * torch.sigmoid(x))
