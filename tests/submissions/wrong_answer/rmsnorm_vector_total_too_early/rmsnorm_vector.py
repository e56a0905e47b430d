# Adds to the total and reads it in the same launch: early programs see only part of the sum.
# expect: Programs of a launch run in any order
# never: stride
# never: grid
import torch
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x * x))
    tl.debug_barrier()
    rstd = tl.rsqrt(tl.load(total_ptr) / n + eps)
    tl.store(out_ptr + offs, x * rstd * tl.load(w_ptr + offs, mask=mask), mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    total = torch.zeros(1, dtype=torch.float32, device=x.device)
    rmsnorm_kernel[(triton.cdiv(n, 1024),)](x, weight, total, out, n, eps, BLOCK=1024)
