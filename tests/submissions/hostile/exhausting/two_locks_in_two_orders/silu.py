# Even programs take the first lock and then the second, odd ones the other way round, and none lets go of its first.
# verdict: time_limit, wrong_answer
# alone on a gpu: its kernel does not end there
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, locks_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    while tl.atomic_cas(locks_ptr + pid % 2, 0, 1) == 1:
        pass
    while tl.atomic_cas(locks_ptr + (pid + 1) % 2, 0, 1) == 1:
        pass
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    locks = torch.zeros(2, dtype=torch.int32, device=x.device)
    silu_kernel[(max(2, triton.cdiv(x.numel(), 1024)),)](x, out, locks, x.numel(), BLOCK=1024)
