# PyTorch's memory and its stream.
import torch
import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    kept = torch.empty_like(x)
    stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
    silu_kernel[(x.numel() + 255) // 256, 256, stream](x.view(-1), kept.view(-1))
    out.copy_(kept)
