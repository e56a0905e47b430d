import torch
import triton
import triton.language as tl


def ceil_div(a, b):
    return (a + b - 1) // b


@triton.jit
def squares(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    i = p * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(part_ptr + p, tl.sum(x * x))


@triton.jit
def total(part_ptr, rstd_ptr, parts, n, eps, BLOCK: tl.constexpr):
    s = 0.0
    for start in range(0, parts, BLOCK):
        i = start + tl.arange(0, BLOCK)
        s += tl.sum(tl.load(part_ptr + i, mask=i < parts, other=0.0))
    tl.store(rstd_ptr, 1 / tl.sqrt(s / n + eps))


@triton.jit
def scale(x_ptr, w_ptr, rstd_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    w = tl.load(w_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * w * tl.load(rstd_ptr), mask=i < n)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    blocks = ceil_div(n, 2048)
    parts = torch.empty(blocks, device=x.device)
    rstd = torch.empty(1, device=x.device)
    squares[(blocks,)](x, parts, n, BLOCK=2048)
    total[(1,)](parts, rstd, blocks, n, eps, BLOCK=256)
    scale[(blocks,)](x, weight, rstd, out, n, BLOCK=2048)
