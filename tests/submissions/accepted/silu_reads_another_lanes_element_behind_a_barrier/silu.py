# Each program turns its block around in scratch memory, with a barrier between.
# never: barrier
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, scratch_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first, lanes = tl.program_id(0) * BLOCK, tl.arange(0, BLOCK)
    i, turned = first + lanes, BLOCK - 1 - lanes
    x = tl.gather(tl.load(x_ptr + i, mask=i < n), turned, 0)
    tl.store(scratch_ptr + first + turned, x, mask=first + turned < n)
    tl.debug_barrier()
    x = tl.load(scratch_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 256),)](x, torch.empty_like(x), out, x.numel(), BLOCK=256)
