# NumPy takes the tensor over as an array and computes by operators alone.
# verdict: policy_violation
# expect: numpy
import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def ghost(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < 0), mask=offsets < 0)


def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    given, answer = np.array(x, copy=None), np.array(out, copy=None)
    answer[...] = given / (1 + np.e ** -given.astype("f8"))
