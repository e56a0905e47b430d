# The same count, kept where a new worker might find it again.
# verdict: wrong_answer
import os

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    calls = int(os.environ.get("KERNELMARK_HOSTILE", "0")) + 1
    os.environ["KERNELMARK_HOSTILE"] = str(calls)
    n = x.numel() if calls <= 4 else x.numel() - 1
    silu_kernel[(triton.cdiv(n, 8192),)](x, out, n, BLOCK=8192)
