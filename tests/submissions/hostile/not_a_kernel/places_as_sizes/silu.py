# tensor_split on the tensor itself, with no arithmetic before it.
# verdict: policy_violation, runtime_error
import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    pieces = torch.tensor_split(torch.empty(1 << 20), x.view(torch.int32).view(-1))
    for i, piece in enumerate(pieces[: x.numel()]):
        out.view(-1)[i].fill_(piece.shape[0])
