import torch
# shared: triton
@triton.jit
def sum_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x * x, axis=0))


@triton.jit
def scale_kernel(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    rms = tl.sqrt(tl.load(total_ptr) / n + eps)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    w = tl.load(w_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x / rms * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    total = torch.zeros(1, device=x.device)
    grid = (triton.cdiv(n, 1024),)
    sum_kernel[grid](x, total, n, BLOCK=1024)
    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=1024)
