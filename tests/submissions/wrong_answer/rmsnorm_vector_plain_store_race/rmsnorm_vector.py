# Programs store their partial sums into one cell, so that the last one wins: an atomic addition is needed.
# expect: replace the total
# never: stride
# never: lower precision
import torch
# shared: triton
@triton.jit
def sum_squares(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(total_ptr, tl.sum(x * x))


@triton.jit
def scale(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    r = tl.rsqrt(tl.load(total_ptr) / n + eps)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask) * r * tl.load(w_ptr + offs, mask=mask), mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    total = torch.zeros(1, device=x.device)
    grid = (triton.cdiv(n, 1024),)
    sum_squares[grid](x, total, n, BLOCK=1024)
    scale[grid](x, weight, total, out, n, eps, BLOCK=1024)
