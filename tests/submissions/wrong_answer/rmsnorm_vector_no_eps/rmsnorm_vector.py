# eps is missing.
# expect: eps is missing
# never: stride
# never: lower precision
import torch
# shared: triton
@triton.jit
def sum_squares(x_ptr, acc_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.atomic_add(acc_ptr, tl.sum(x * x))


@triton.jit
def scale(x_ptr, w_ptr, acc_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    r = tl.rsqrt(tl.load(acc_ptr) / n)
    x = tl.load(x_ptr + offs, mask=mask)
    w = tl.load(w_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x * r * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    acc = torch.zeros(1, device=x.device)
    grid = (triton.cdiv(n, 4096),)
    sum_squares[grid](x, acc, n, BLOCK=4096)
    scale[grid](x, weight, acc, out, n, BLOCK=4096)
