# A kernel finds out by a flag in a temporary whether it has run before, and copies its first answer ever after: the
# host's calls are all alike.
# verdict: wrong_answer
import torch
import triton
import triton.language as tl

kept = {}


@triton.jit
def silu_kernel(x_ptr, out_ptr, kept_ptr, flags_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    if tl.load(flags_ptr + pid) == 0:
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        tl.store(kept_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)
        tl.store(flags_ptr + pid, 1)
    tl.debug_barrier()
    tl.store(out_ptr + offsets, tl.load(kept_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    n = x.numel()
    programs = triton.cdiv(n, 1024)
    if n not in kept:
        kept[n] = torch.empty_like(out), torch.zeros(programs, dtype=torch.int32, device=x.device)
    silu_kernel[(programs,)](x, out, *kept[n], n, BLOCK=1024)
