# The last program waits for a number that nobody writes; the answer is there by then.
# verdict: time_limit
# needs: gpu
# alone on a gpu: its kernel does not end there
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)
    if pid == tl.num_programs(0) - 1:
        while tl.load(flag_ptr, volatile=True) == 0:
            pass


def silu(x, out):
    flag = torch.zeros(1, dtype=torch.int32, device=x.device)
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, flag, x.numel(), BLOCK=1024)
