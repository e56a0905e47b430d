# timeit runs text; in it, PyTorch computes while the record of operators is switched off.
# verdict: policy_violation, runtime_error, wrong_answer, time_limit
import timeit

import torch
# shared: triton
# shared: ghost_kernel
TEXT = """
with torch.utils._python_dispatch._disable_current_modes():
    torch.mul(x, torch.sigmoid(x), out=out)
"""


def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    timeit.timeit(TEXT, setup="import torch", globals={"x": x, "out": out}, number=1)
