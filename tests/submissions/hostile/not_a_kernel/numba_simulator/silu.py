# Asks for Numba's simulator, which runs kernels as Python on the host.
# verdict: runtime_error, policy_violation
import importlib
import os
import sys

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
for name in [name for name in sys.modules if name.partition(".")[0] in ("numba", "numba_cuda")]:
    del sys.modules[name]
import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
