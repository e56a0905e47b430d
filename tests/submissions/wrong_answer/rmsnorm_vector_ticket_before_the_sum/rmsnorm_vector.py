# Programs draw their tickets before they add to the sum: others may still add to it when the last one reads it.
# expect: may come before
# expect: draw the ticket
# never: stride
import torch
# shared: triton
@triton.jit
def sum_kernel(x_ptr, sum_ptr, tickets_ptr, total_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    ticket = tl.atomic_add(tickets_ptr, 1)
    tl.atomic_add(sum_ptr, tl.sum(x * x, axis=0))
    if ticket == tl.num_programs(0) - 1:
        tl.store(total_ptr, tl.load(sum_ptr))


# shared: scale_kernel
def rmsnorm_vector(x, weight, eps, out):
    n, BLOCK = x.numel(), 1024
    programs = triton.cdiv(n, BLOCK)
    both = torch.zeros(2, device=x.device)
    tickets = torch.zeros(1, dtype=torch.int32, device=x.device)
    sum_kernel[(programs,)](x, both, tickets, both[1:], n, BLOCK=BLOCK)
    scale_kernel[(programs,)](x, weight, both[1:], out, n, eps, BLOCK=BLOCK)
