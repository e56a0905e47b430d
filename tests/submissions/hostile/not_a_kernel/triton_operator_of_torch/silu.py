# torch.library.triton_op and wrap_triton: a launch through PyTorch, whose function goes on to compute.
# verdict: time_limit, policy_violation, runtime_error, wrong_answer
import torch
import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@torch.library.triton_op("kernelmark_hostile::both", mutates_args=("out",))
def both(x: torch.Tensor, out: torch.Tensor) -> None:
    torch.library.wrap_triton(show)[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    out.copy_(out / (1 + torch.exp(-out)))


def silu(x, out):
    both(x, out)
