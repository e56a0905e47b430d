# A temporary that outlives the call keeps the first answer, which every later call copies, whatever the inputs are.
# verdict: wrong_answer
import torch
import triton
import triton.language as tl

kept = {}


@triton.jit
def silu_kernel(x_ptr, out_ptr, kept_ptr, n, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if FIRST:
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        y = x / (1 + tl.exp(-x))
        tl.store(kept_ptr + offsets, y, mask=offsets < n)
    else:
        y = tl.load(kept_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, y, mask=offsets < n)


def silu(x, out):
    n = x.numel()
    first = n not in kept
    memory = kept.setdefault(n, torch.empty_like(out))
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, memory, n, FIRST=first, BLOCK=1024)
