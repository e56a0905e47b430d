"""RMSNorm of one vector: out = x · weight / √(mean(x²) + eps).

x, weight, out: (N,) float32, contiguous, any N from 1 to many millions; eps: float. Write into out, which arrives
full of NaN; leave x and weight alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_of_squares_kernel(x_ptr, parts_ptr, n, BLOCK: tl.constexpr):
    # 1. Load this program's block of x. What must elements past n count as in a sum?
    # 2. Sum the squares (tl.sum), and store them where no other program stores.
    pass


@triton.jit
def scale_kernel(x_ptr, weight_ptr, parts_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    # 1. Get the sum of all parts, then the mean: divide by n, not by the number of lanes.
    # 2. Scale this program's block of x, and store it.
    pass


def rmsnorm_vector(x: torch.Tensor, weight: torch.Tensor, eps: float, out: torch.Tensor) -> None:
    # No program may scale before every program has summed: two launches run one after the other.
    # torch.empty(..., device=x.device) gives a place for the parts.
    raise NotImplementedError("rmsnorm_vector: not written yet")
