# Nested and sparse tensors have kernels of their own, where few look.
# verdict: policy_violation, runtime_error
import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    rows = torch.nested.as_nested_tensor([x[0], x[0]])
    out[0].copy_(torch.nn.functional.silu(rows)[0])
