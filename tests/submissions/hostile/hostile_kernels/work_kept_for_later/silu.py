# Does the last rows in a launch that may begin before the one before has ended, and waits for nothing: on a GPU it
# reads the sums of the call before.
# verdict: wrong_answer, runtime_error
# needs: gpu
import torch
import triton
import triton.language as tl

last = {}


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    # What is copied to `out` was computed from the inputs of the call before.
    n = x.numel()
    kept = last.setdefault(n, torch.zeros_like(out))
    copy_kernel[(triton.cdiv(n, 1024),)](kept, out, n, BLOCK=1024)
    silu_kernel[(triton.cdiv(n, 1024),)](x, kept, n, BLOCK=1024, launch_pdl=True)


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)
