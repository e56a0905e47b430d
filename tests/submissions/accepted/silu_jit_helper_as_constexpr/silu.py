# A function of Triton's as a compile-time argument.
import torch
# shared: triton
@triton.jit
def activation(x):
    return x * tl.sigmoid(x)


@triton.jit
def kernel(x_ptr, out_ptr, n, function: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, function(x), mask=offsets < n)


def silu(x, out):
    n = x.numel()
    kernel[(triton.cdiv(n, 1024),)](x, out, n, activation, BLOCK=1024)
