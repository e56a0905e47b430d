# The kernel is right; the grid counts blocks of twice its size.
# expect: each has 1,024 of
# expect: the block that the grid is counted with must be the kernel's
# never: exchanged
# never: //
# never: one program
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 2048),)](x, out, n, BLOCK=1024)
