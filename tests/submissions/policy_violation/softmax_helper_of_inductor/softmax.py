# What Inductor writes calls helpers of PyTorch's.
# expect: uses `triton_helpers.max2`, which is not defined in the submission's file
# expect: tl.maximum, tl.max
# shared: triton
from torch._inductor.runtime import triton_helpers


@triton.jit
def fused(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * cols + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < cols
    x = tl.load(x_ptr + lanes, mask, other=float("-inf"))
    e = tl.exp(x - triton_helpers.max2(x, 0))
    tl.store(out_ptr + lanes, e / tl.sum(e, axis=0), mask)


def softmax(x, out):
    fused[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
