# The total is loaded before the lock is taken under which it is stored: what others add in between is lost.
# expect: may come before
# expect: the lock taken
# never: stride
import torch
# shared: triton
@triton.jit
def sum_kernel(x_ptr, total_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    part = tl.sum(x * x, axis=0)
    total = tl.load(total_ptr)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr, total + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


# shared: scale_kernel
def rmsnorm_vector(x, weight, eps, out):
    n, BLOCK = x.numel(), 2048
    programs = triton.cdiv(n, BLOCK)
    total = torch.zeros(1, device=x.device)
    locks = torch.zeros(1, dtype=torch.int32, device=x.device)
    sum_kernel[(programs,)](x, total, locks, n, BLOCK=BLOCK)
    scale_kernel[(programs,)](x, weight, total, out, n, eps, BLOCK=BLOCK)
