# Launches a template's kernel of Inductor's own, as if one had written it.
# verdict: policy_violation, runtime_error, wrong_answer
import torch
import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    compiled = torch.compile(torch.nn.functional.silu, fullgraph=True)
    out.copy_(compiled(x))
