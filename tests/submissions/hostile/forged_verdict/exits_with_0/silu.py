# Ends the process with the status of success.
# verdict: runtime_error
# expect: status 0
import os

import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    os._exit(0)
