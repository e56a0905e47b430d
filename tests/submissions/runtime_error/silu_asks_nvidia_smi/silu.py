# Which GPU there is comes from a program, which is not started.
# expect: `GPU` is not defined: line 10
# expect: torch.cuda.get_device_name()
import subprocess

import torch
import triton
import triton.language as tl

GPU = subprocess.check_output(["nvidia-smi", "-L"], text=True)


# shared: masked_kernel
def silu(x, out):
    n = x.numel()
    block = 2048 if "H100" in GPU else 1024
    silu_kernel[(triton.cdiv(n, block),)](x, out, n, BLOCK=block)
