# A child process computes, where no record sees it.
# expect: starts a process
import os

import torch
import triton
import triton.language as tl


@triton.jit
def ghost(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < 0), mask=offsets < 0)


fork = getattr(os, "fo" + "rk")


def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    if fork() == 0:
        out[...] = x * (1 / (1 + 2.718281828459045 ** -x))
        os._exit(0)
    os.wait()
