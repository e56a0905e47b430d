# Partial sums into a scratch tensor, then every program adds up all the partial sums.
import torch
# shared: triton
@triton.jit
def partial_sums(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(partial_ptr + pid, tl.sum(x * x))


@triton.jit
def normalise(x_ptr, w_ptr, partial_ptr, out_ptr, n, blocks, eps, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    p = tl.arange(0, PARTS)
    total = tl.sum(tl.load(partial_ptr + p, mask=p < blocks, other=0.0))
    rstd = tl.rsqrt(total / n + eps)
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    w = tl.load(w_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x * rstd * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    BLOCK = 4096
    blocks = triton.cdiv(n, BLOCK)
    partial = torch.empty(blocks, device=x.device, dtype=torch.float32)
    partial_sums[(blocks,)](x, partial, n, BLOCK)
    normalise[(blocks,)](x, weight, partial, out, n, blocks, eps, BLOCK, PARTS=triton.next_power_of_2(blocks))
