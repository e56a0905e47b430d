# Writes the very bits that mark what was never written: not written might mean not checked.
# verdict: wrong_answer
import torch
# shared: triton
@triton.jit
def poison_kernel(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.full((BLOCK,), 0x7FC05EED, tl.int32)
    tl.store(out_ptr + offsets, bits.to(tl.float32, bitcast=True), mask=offsets < n)


def silu(x, out):
    poison_kernel[(triton.cdiv(x.numel(), 8192),)](out, out.numel(), BLOCK=8192)
