# Refuses tensors that are not on a GPU in every way there is to refuse.
import sys

import torch
import triton
import triton.language as tl

HAS_GPU = torch.cuda.is_available()
if not HAS_GPU:
    print("this needs a GPU", file=sys.stderr)
    sys.exit(1)


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def check(tensor):
    if not (tensor.is_cuda and tensor.is_contiguous()):
        raise ValueError("contiguous tensors on a GPU are expected")
    torch._assert(tensor.is_cuda, "not on a GPU")


def silu(x, out):
    check(x)
    check(out)
    if x.device.type != "cuda" or x.shape != out.shape:
        raise RuntimeError(f"cannot work on {x.device}")
    elif x.dtype != torch.float32:
        raise TypeError("fp32 only")
    if x.device == torch.device("cpu"):
        print("no GPU")
        return
    if x.is_cuda:
        n = x.numel()
        silu_kernel[(triton.cdiv(n, 4096),)](x, out, n, BLOCK=4096)
    else:
        raise NotImplementedError("CPU")
