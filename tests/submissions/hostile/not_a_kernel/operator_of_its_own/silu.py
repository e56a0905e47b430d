# Registers an operator whose body is PyTorch, and says that it only changes `out`.
# verdict: policy_violation, runtime_error, wrong_answer
import torch
import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@torch.library.custom_op("kernelmark_hostile::silu", mutates_args=("out",))
def compute(x: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(x / (1 + torch.exp(-x)))


@compute.register_fake
def _(x, out):
    return None


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    torch.ops.kernelmark_hostile.silu(x, out)
