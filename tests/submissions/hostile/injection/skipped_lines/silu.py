# Top-level statements that are skipped, in text of markup, escapes and marks that turn the text round.
# verdict: wrong_answer
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)


torch.randn(3).cuda().item(), "<script>alert(1)</script>\u202e<img src=x onerror=alert(1)>"  # \x1b[2J‮
raise ValueError("<script>alert(2)</script>\x1b[2J\x9b\u2066")
