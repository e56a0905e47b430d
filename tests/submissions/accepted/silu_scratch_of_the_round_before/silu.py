# Each round stores what the next one loads, in a loop that is not pipelined.
# never: round
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, scratch_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(scratch_ptr + lanes, tl.load(x_ptr + lanes, mask=lanes < n), mask=lanes < n)
    for start in tl.range(0, n, BLOCK, num_stages=1):
        i = start + lanes
        x = tl.load(scratch_ptr + i, mask=i < n)
        tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)
        ahead = i + BLOCK
        tl.store(scratch_ptr + ahead, tl.load(x_ptr + ahead, mask=ahead < n), mask=ahead < n)


def silu(x, out):
    silu_kernel[(1,)](x, torch.empty_like(x), out, x.numel(), BLOCK=1024)
