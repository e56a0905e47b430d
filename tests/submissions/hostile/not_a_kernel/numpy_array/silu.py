# NumPy takes the tensor over as an array and computes by operators alone.
# verdict: policy_violation
# expect: numpy
import numpy as np
import torch
# shared: triton
# shared: ghost_kernel
def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    given, answer = np.array(x, copy=None), np.array(out, copy=None)
    answer[...] = given / (1 + np.e ** -given.astype("f8"))
