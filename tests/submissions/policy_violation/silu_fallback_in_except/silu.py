# A kernel that always fails, with PyTorch behind it.
# expect: silu
import torch
# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    try:
        silu_kernel[(triton.cdiv(x.numel(), 1000),)](x, out, x.numel(), BLOCK=1000)
    except Exception:
        out.copy_(torch.nn.functional.silu(x))
