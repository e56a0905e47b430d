# Programs draw their tickets before they store their parts: those of others may not be there when the last one adds.
# expect: may come before
# expect: store first, then draw the ticket
# never: stride
import torch
# shared: triton
@triton.jit
def sum_kernel(x_ptr, parts_ptr, tickets_ptr, total_ptr, n, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    ticket = tl.atomic_add(tickets_ptr, 1)
    tl.store(parts_ptr + pid, tl.sum(x * x, axis=0))
    tl.debug_barrier()
    if ticket == tl.num_programs(0) - 1:
        k = tl.arange(0, PARTS)
        total = tl.sum(tl.load(parts_ptr + k, mask=k < tl.num_programs(0), other=0.0), axis=0)
        tl.store(total_ptr, total)


# shared: scale_kernel
def rmsnorm_vector(x, weight, eps, out):
    n, BLOCK = x.numel(), 1024
    programs = triton.cdiv(n, BLOCK)
    parts, total = torch.zeros(programs, device=x.device), torch.zeros(1, device=x.device)
    tickets = torch.zeros(1, dtype=torch.int32, device=x.device)
    sum_kernel[(programs,)](x, parts, tickets, total, n, BLOCK=BLOCK, PARTS=triton.next_power_of_2(programs))
    scale_kernel[(programs,)](x, weight, total, out, n, eps, BLOCK=BLOCK)
