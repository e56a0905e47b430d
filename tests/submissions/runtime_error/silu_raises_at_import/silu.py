# Insists on a GPU at import.
# expect: the submission raises this itself
import torch
import triton
import triton.language as tl

if not torch.cuda.is_available() or not torch.cuda.get_device_name().startswith("My own card"):
    raise RuntimeError("needs my own card")


# shared: sigmoid_kernel
def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
