# Imports a function that this version of Triton does not have.
# expect: triton.language.math has no tanh in the version that grades
import torch
import triton
import triton.language as tl
from triton.language.math import tanh


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * (0.5 + 0.5 * tanh(0.5 * x)), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
