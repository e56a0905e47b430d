# A function that Triton runs while it compiles, for constants, computes with the tensors.
# verdict: policy_violation, runtime_error, wrong_answer
import torch
# shared: triton
kept = []


@triton.constexpr_function
def compute(block):
    x, out = kept
    out.copy_(x / (1 + torch.exp(-x)))
    return block


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    size: tl.constexpr = compute(BLOCK)
    offsets = tl.program_id(0) * size + tl.arange(0, size)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    kept[:] = x, out
    kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
