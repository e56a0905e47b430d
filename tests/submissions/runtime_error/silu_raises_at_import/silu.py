# Insists on a GPU at import.
# expect: the submission raises this itself
import torch
import triton
import triton.language as tl

if not torch.cuda.is_available() or not torch.cuda.get_device_name().startswith("My own card"):
    raise RuntimeError("needs my own card")


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
