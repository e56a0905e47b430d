# .cuda() on everything, just to be sure, and scratch on device 0.
import torch
# shared: triton
@triton.jit
def sum_of_squares(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x * x))


@triton.jit
def normalise(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    rstd = tl.rsqrt(tl.load(total_ptr) / n + eps)
    x = tl.load(x_ptr + offs, mask=mask)
    w = tl.load(w_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x * rstd * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    torch.cuda.set_device(0)
    x, weight = x.cuda(), weight.to("cuda:0", non_blocking=True)
    n = x.numel()
    total = torch.zeros(1, device=torch.cuda.current_device()).cuda()
    blocks = triton.cdiv(n, 4096)
    sum_of_squares[(blocks,)](x, total, n, BLOCK=4096)
    normalise[(blocks,)](x, weight, total, out, n, eps, BLOCK=4096)
