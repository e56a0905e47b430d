# torch.library.triton_op and wrap_triton: a launch through PyTorch, whose function goes on to compute.
# verdict: time_limit, policy_violation, runtime_error, wrong_answer
import torch
# shared: triton
# shared: show_kernel
@torch.library.triton_op("kernelmark_hostile::both", mutates_args=("out",))
def both(x: torch.Tensor, out: torch.Tensor) -> None:
    torch.library.wrap_triton(show)[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    out.copy_(out / (1 + torch.exp(-out)))


def silu(x, out):
    both(x, out)
