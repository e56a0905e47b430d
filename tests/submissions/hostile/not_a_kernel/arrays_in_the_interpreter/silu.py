# Inside a kernel, a function takes the interpreter's NumPy array and computes with it.
# verdict: policy_violation
# expect: getattr(x, "handle")
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, compute(x), mask=offsets < n)


@triton.jit
def compute(x):
    inner = getattr(x, "handle")
    inner.data = (inner.data / (1 + 2.718281828459045 ** -inner.data.astype("f8"))).astype("f4")
    return x


def silu(x, out):
    n = x.numel()
    kernel[(triton.cdiv(n, 8192),)](x, out, n, BLOCK=8192)
