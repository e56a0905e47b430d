"""Reads x once, and a copy of it once more."""
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < count), mask=at < count)


@triton.jit
def silu_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count)
    tl.store(out_ptr + at, x / (1 + tl.exp(-x)), mask=at < count)


def silu(x: torch.Tensor, out: torch.Tensor) -> None:
    grid = (triton.cdiv(x.numel(), 1024),)
    copy = torch.empty_like(x)
    copy_kernel[grid](x, copy, x.numel(), BLOCK=1024)
    silu_kernel[grid](copy, out, x.numel(), BLOCK=1024)
