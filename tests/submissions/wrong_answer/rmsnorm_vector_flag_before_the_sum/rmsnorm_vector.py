# Each program waits for the flag of the one before and adds to its sum, but flags are set before sums are stored.
# expect: may come before
# expect: set the flag
# never: stride
import torch
# shared: triton
@triton.jit
def sum_kernel(x_ptr, sums_ptr, flags_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    total = tl.sum(x * x, axis=0)
    if pid > 0:
        while tl.atomic_add(flags_ptr + pid - 1, 0) == 0:
            pass
        total += tl.load(sums_ptr + pid - 1)
    tl.atomic_xchg(flags_ptr + pid, 1)
    tl.store(sums_ptr + pid, total)
    tl.debug_barrier()


# shared: scale_kernel
def rmsnorm_vector(x, weight, eps, out):
    n, BLOCK = x.numel(), 2048
    programs = triton.cdiv(n, BLOCK)
    sums = torch.zeros(programs, device=x.device)
    flags = torch.zeros(programs, dtype=torch.int32, device=x.device)
    sum_kernel[(programs,)](x, sums, flags, n, BLOCK=BLOCK)
    scale_kernel[(programs,)](x, weight, sums[programs - 1:], out, n, eps, BLOCK=BLOCK)
