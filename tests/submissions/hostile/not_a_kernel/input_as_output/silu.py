# Tells the planner that the input is an output, and fills it with zeros, for which zeros are right.
# verdict: runtime_error
# expect: an input is written
import sys

import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    sys.modules["grader.frontends.triton.planner.handles"].memory_of(x).output = True
    x.zero_()
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
