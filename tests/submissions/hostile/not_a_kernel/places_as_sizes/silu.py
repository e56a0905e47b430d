# tensor_split on the tensor itself, with no arithmetic before it.
# verdict: policy_violation, runtime_error
import torch
import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    pieces = torch.tensor_split(torch.empty(1 << 20), x.view(torch.int32).view(-1))
    for i, piece in enumerate(pieces[: x.numel()]):
        out.view(-1)[i].fill_(piece.shape[0])
