# A constant of the kernel is worked out from random numbers at the top of the file.
# expect: `SCALE` is not there: line 7, which would make it, was skipped, since tensors have no numbers while a file is imported
import torch
import triton
import triton.language as tl

SCALE = torch.rand(8).argmin().item()


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x + 0 * scale), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, SCALE, BLOCK=1024)
