# The last program at a counter adds up what all have stored.
# never: does not order
# never: number
import torch
# shared: triton
@triton.jit
def scale_kernel(x_ptr, parts_ptr, tickets_ptr, scale_ptr, n, eps, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(parts_ptr + pid, tl.sum(x * x, axis=0))
    if tl.atomic_add(tickets_ptr, 1) == tl.num_programs(0) - 1:
        k = tl.arange(0, PARTS)
        total = tl.sum(tl.load(parts_ptr + k, mask=k < tl.num_programs(0), other=0.0), axis=0)
        tl.store(scale_ptr, tl.rsqrt(total / n + eps))


@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, scale_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n) * tl.load(scale_ptr)
    tl.store(out_ptr + i, x * tl.load(w_ptr + i, mask=i < n), mask=i < n)


def rmsnorm_vector(x, weight, eps, out):
    n, BLOCK = x.numel(), 1024
    programs = triton.cdiv(n, BLOCK)
    parts, scale = torch.empty(programs, device=x.device), torch.empty(1, device=x.device)
    tickets = torch.zeros(1, dtype=torch.int32, device=x.device)
    scale_kernel[(programs,)](x, parts, tickets, scale, n, eps, BLOCK=BLOCK, PARTS=triton.next_power_of_2(programs))
    rmsnorm_kernel[(programs,)](x, weight, out, scale, n, BLOCK=BLOCK)
