# Registers an operator whose body is PyTorch, and says that it only changes `out`.
# verdict: policy_violation, runtime_error, wrong_answer
import torch
# shared: triton
# shared: show_kernel
@torch.library.custom_op("kernelmark_hostile::silu", mutates_args=("out",))
def compute(x: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(x / (1 + torch.exp(-x)))


@compute.register_fake
def _(x, out):
    return None


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    torch.ops.kernelmark_hostile.silu(x, out)
