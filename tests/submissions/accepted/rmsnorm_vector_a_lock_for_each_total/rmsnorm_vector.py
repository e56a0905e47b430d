# Even and odd programs have a total each, and a lock each.
# never: may come before
import torch
# shared: triton
@triton.jit
def sum_kernel(x_ptr, total_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    part = tl.sum(x * x, axis=0)
    half = tl.program_id(0) % 2
    while tl.atomic_cas(lock_ptr + half, 0, 1) == 1:
        pass
    tl.store(total_ptr + half, tl.load(total_ptr + half) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + half, 0)


@triton.jit
def scale_kernel(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    rstd = tl.rsqrt((tl.load(total_ptr) + tl.load(total_ptr + 1)) / n + eps)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask) * rstd * tl.load(w_ptr + i, mask=mask), mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n, BLOCK = x.numel(), 2048
    programs = triton.cdiv(n, BLOCK)
    total = torch.zeros(2, device=x.device)
    locks = torch.zeros(2, dtype=torch.int32, device=x.device)
    sum_kernel[(programs,)](x, total, locks, n, BLOCK=BLOCK)
    scale_kernel[(programs,)](x, weight, total, out, n, eps, BLOCK=BLOCK)
