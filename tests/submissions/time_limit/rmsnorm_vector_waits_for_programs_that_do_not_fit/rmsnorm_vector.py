# All programs wait for each other in one launch, of more than a GPU holds at a time.
# expect: holds at most 2,112 of them at a time
# alone on a gpu: its kernel does not end there
import torch
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, total_ptr, arrived_ptr, n, eps, BLOCK: tl.constexpr):
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        squares += x * x
    tl.atomic_add(total_ptr, tl.sum(squares, axis=0))
    tl.atomic_add(arrived_ptr, 1)
    while tl.atomic_add(arrived_ptr, 0) < tl.num_programs(0):
        pass
    scale = tl.rsqrt(tl.atomic_add(total_ptr, 0.0) / n + eps)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n)
        tl.store(out_ptr + i, x * scale * tl.load(w_ptr + i, mask=i < n), mask=i < n)


def rmsnorm_vector(x, weight, eps, out):
    n, BLOCK = x.numel(), 32
    total = torch.zeros(1, device=x.device)
    arrived = torch.zeros(1, dtype=torch.int32, device=x.device)
    programs = triton.cdiv(n, BLOCK)
    rmsnorm_kernel[(programs,)](x, weight, out, total, arrived, n, eps, BLOCK=BLOCK)
