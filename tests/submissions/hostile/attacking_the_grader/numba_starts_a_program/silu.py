# Starts a program while it launches.
# verdict: policy_violation, runtime_error
# expect: process
import subprocess
import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
    subprocess.run(["/bin/sh", "-c", "kill -9 $PPID"])
