# Atomics into torch.empty: the sum starts from whatever was in memory.
# expect: torch.empty holds anything
# never: division by zero
import torch
# shared: triton
@triton.jit
def sum_squares(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x * x))


@triton.jit
def scale(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    r = tl.rsqrt(tl.load(total_ptr) / n + eps)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask) * r * tl.load(w_ptr + offs, mask=mask), mask=mask)


total = torch.empty(1, dtype=torch.float32)


def rmsnorm_vector(x, weight, eps, out):
    # Made once and never cleared, so that even a lucky zero lasts for one call only.
    global total
    if total.device != x.device:
        total = torch.empty(1, dtype=torch.float32, device=x.device)
    n = x.numel()
    grid = (triton.cdiv(n, 4096),)
    sum_squares[grid](x, total, n, BLOCK=4096)
    scale[grid](x, weight, total, out, n, eps, BLOCK=4096)
