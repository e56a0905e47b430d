# Writes a launch of a grid that no GPU has into the planner's record.
# verdict: runtime_error
# expect: where a GPU takes
import sys

import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
    session = sys.modules["grader.host.record"].session()
    for number, one in enumerate(session.operations):
        session.operations[number] = one.model_copy(update={"grid": (1, 1 << 20, 1)})
