# The block size is what a benchmark at the top of the file finds, which is not run.
# expect: `BLOCK` is not there: line 24, which would make it, was skipped, since measuring time is the grader's work
# expect: @triton.autotune
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def run(block, x, out):
    silu_kernel[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)


x = torch.randn(1024, 1024, device="cuda")
y = torch.empty_like(x)
TIMES = {block: triton.testing.do_bench(lambda: run(block, x, y)) for block in (256, 1024, 4096)}
BLOCK = min(TIMES, key=TIMES.get)


def silu(x, out):
    run(BLOCK, x, out)
