# A heuristic reads the contents: their sum becomes a constant of the kernel.
# verdict: policy_violation
import torch
# shared: triton
@triton.heuristics({"SUM": lambda arguments: int(arguments["x_ptr"].sum())})
@triton.jit
def kernel(x_ptr, out_ptr, n, SUM: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.full((BLOCK,), SUM, tl.float32), mask=offsets < n)


def silu(x, out):
    kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
