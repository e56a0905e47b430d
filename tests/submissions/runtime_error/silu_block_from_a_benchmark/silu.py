# The block size is what a benchmark at the top of the file finds, which is not run.
# expect: `BLOCK` is not defined: line 24, which defines it, was skipped, since measuring time is the grader's work
# expect: @triton.autotune
import torch
# shared: triton
# shared: masked_kernel
def run(block, x, out):
    silu_kernel[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)


x = torch.randn(1024, 1024, device="cuda")
y = torch.empty_like(x)
TIMES = {block: triton.testing.do_bench(lambda: run(block, x, y)) for block in (256, 1024, 4096)}
BLOCK = min(TIMES, key=TIMES.get)


def silu(x, out):
    run(BLOCK, x, out)
