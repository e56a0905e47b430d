import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, sum_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    # sum_ptr is shared by all programs
    old = tl.load(sum_ptr)
    tl.atomic_add(sum_ptr, old + tl.sum(x * x))


@triton.jit
def scale_kernel(x_ptr, w_ptr, sum_ptr, out_ptr, n, eps, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    rstd = tl.rsqrt(tl.load(sum_ptr) / n + eps)
    x = tl.load(x_ptr + offsets, mask=mask)
    w = tl.load(w_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * rstd * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    total = torch.zeros(1, device=x.device)
    grid = (triton.cdiv(n, 8192),)
    sum_kernel[grid](x, total, n, BLOCK_SIZE=8192)
    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK_SIZE=8192)
