# Looks at its tensors on the way, as one does in a notebook.
# expect: host code has no values to print or check
# expect: tl.device_print
import logging

import torch
import triton
import triton.language as tl

log = logging.getLogger(__name__)


# shared: masked_kernel
def silu(x, out):
    print(x)
    print("shape", x.shape, "strides", x.stride(), x.dtype, x.device)
    n = x.numel()
    log.info("mean of the input: %s", x.mean())
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    print(f"first rows: {out[:2]}", repr(out), str(x))
    print("largest", out.max().item())
    breakpoint()
