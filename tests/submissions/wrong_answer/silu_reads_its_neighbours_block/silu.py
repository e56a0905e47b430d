# Each program leaves its block in scratch memory and works on that of the next one, which may not be there yet.
# expect: run in another order they give another answer
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, scratch_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    i = pid * BLOCK + lanes
    tl.store(scratch_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
    i = (pid + 1) % tl.num_programs(0) * BLOCK + lanes
    x = tl.load(scratch_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 256),)](x, torch.empty_like(x), out, x.numel(), BLOCK=256)
