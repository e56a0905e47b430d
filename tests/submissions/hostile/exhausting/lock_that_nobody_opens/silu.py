# Every program waits for a lock that is closed from the start.
# verdict: time_limit
# alone on a gpu: its kernel does not end there
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    lock = torch.ones(1, dtype=torch.int32, device=x.device)
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, lock, x.numel(), BLOCK=1024)
