# Looks for the expected answer in the memory beside the output.
# verdict: runtime_error
# expect: past the end of out
# on a gpu: runtime_error, wrong_answer; memory copied onto itself is unchanged: only a simulator sees it, if in time
import torch
# shared: triton
@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    for step in (8192, 4096, 1024):
        beside = torch.as_strided(out, (x.numel(),), (1,), 0)
        copy_kernel[(triton.cdiv(x.numel(), 8192),)](beside, out, x.numel() + step, BLOCK=8192)
