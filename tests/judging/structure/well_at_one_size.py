"""Neighbouring lanes take neighbours in a square matrix alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, count, step, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * (BLOCK if step == 1 else 1) + tl.arange(0, BLOCK) * step
    x = tl.load(x_ptr + at, mask=at < count)
    tl.store(out_ptr + at, x / (1 + tl.exp(-x)), mask=at < count)


def silu(x: torch.Tensor, out: torch.Tensor) -> None:
    M, N = x.shape
    programs = triton.cdiv(x.numel(), 256)
    silu_kernel[(programs,)](x, out, x.numel(), 1 if M == N else programs, BLOCK=256)
