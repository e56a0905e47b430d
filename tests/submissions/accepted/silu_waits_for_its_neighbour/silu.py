# Two programs wait for each other, which any GPU that starts them in order holds side by side.
# never: wait
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, arrived_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    other = pid ^ 1
    tl.atomic_add(arrived_ptr + pid, 1)
    if other < tl.num_programs(0):
        while tl.atomic_add(arrived_ptr + other, 0) < 1:
            pass
    i = pid.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    n = x.numel()
    programs = triton.cdiv(n, 1024)
    arrived = torch.zeros(programs, dtype=torch.int32, device=x.device)
    silu_kernel[(programs,)](x, out, arrived, n, BLOCK=1024)
