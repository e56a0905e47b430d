import torch
import triton
import triton.language as tl


@triton.jit
def square_sum(x_ptr, sum_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(sum_ptr, tl.sum(x * x))


@triton.jit
def scale(x_ptr, w_ptr, sum_ptr, out_ptr, n, eps, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    # eps so that we never divide by zero
    rms = tl.sqrt(tl.load(sum_ptr) / n) + eps
    x = tl.load(x_ptr + offsets, mask=mask)
    w = tl.load(w_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x / rms * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    total = torch.zeros(1, device=x.device)
    grid = (triton.cdiv(n, 4096),)
    square_sum[grid](x, total, n, BLOCK_SIZE=4096)
    scale[grid](x, weight, total, out, n, eps, BLOCK_SIZE=4096)
