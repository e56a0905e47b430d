# A plain Python function as a compile-time argument: in the interpreter its tensors are NumPy's.
# expect: x.handle
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, n, function: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, function(x), mask=offsets < n)


def compute(x):
    given = x.handle.data
    x.handle.data = (given / (1 + 2.718281828459045 ** -given.astype("f8"))).astype("f4")
    return x


def silu(x, out):
    n = x.numel()
    kernel[(triton.cdiv(n, 1024),)](x, out, n, compute, BLOCK=1024)
