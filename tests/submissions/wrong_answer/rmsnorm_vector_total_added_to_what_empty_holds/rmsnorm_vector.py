# The total is added to what torch.empty holds, unless that is NaN: right for NaN and for 0 alone.
# expect: reads elements of your buffer `total_ptr` that nothing has written
# expect: torch.zeros
import torch
# shared: triton
@triton.jit
def total_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    total = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        total += tl.sum(x * x)
    old = tl.load(total_ptr)
    tl.store(total_ptr, tl.where(old == old, old + total, total))


@triton.jit
def scale_kernel(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    scale = tl.rsqrt(tl.load(total_ptr) / n + eps)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * scale * tl.load(w_ptr + i, mask=i < n), mask=i < n)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    total = torch.empty(1, device=x.device)
    total_kernel[(1,)](x, total, n, BLOCK=1024)
    scale_kernel[(triton.cdiv(n, 1024),)](x, weight, total, out, n, eps, BLOCK=1024)
