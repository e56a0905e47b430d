# A program's number from a counter is taken for its place in the grid.
# expect: which number from the atomic operation in line 10
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, tickets_ptr, out_ptr, n, BLOCK: tl.constexpr):
    ticket = tl.atomic_add(tickets_ptr, 1)
    lanes = tl.arange(0, BLOCK)
    i = tl.program_id(0) * BLOCK + lanes
    x = tl.load(x_ptr + i, mask=i < n)
    i = ticket * BLOCK + lanes
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    tickets = torch.zeros(1, dtype=torch.int32, device=x.device)
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, tickets, out, x.numel(), BLOCK=4096)
