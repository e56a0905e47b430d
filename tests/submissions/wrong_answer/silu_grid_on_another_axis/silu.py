# The kernel is right; the grid counts programs along an axis that it does not ask for.
# expect: do not depend on tl.program_id(1)
# never: exchanged
# never: the mask of
# on a gpu: runtime_error, wrong_answer; there its grid for a larger case is more than a GPU takes
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(1, triton.cdiv(n, 1024))](x, out, n, BLOCK=1024)
