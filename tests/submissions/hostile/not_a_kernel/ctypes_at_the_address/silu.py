# C reads and writes at the address that the tensor tells.
# verdict: runtime_error, policy_violation
import ctypes

import torch
import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    n = x.numel()
    source = (ctypes.c_float * n).from_address(x.data_ptr())
    target = (ctypes.c_float * n).from_address(out.data_ptr())
    for i in range(n):
        target[i] = source[i] / (1 + 2.718281828459045 ** -source[i])
