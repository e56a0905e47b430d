"""The k largest of each row of x in falling order, and the columns in which they stand. Of equal numbers the one in the
smaller column comes first; −0 equals 0.

x: (M, N) float32; k: 1, 8 or 50, at most N; values: (M, k) float32; indices: (M, k) int64; contiguous, any M and N
from 1 on. Write into values and indices; leave x alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def topk_kernel(x_ptr, values_ptr, indices_ptr, N, k, BLOCK: tl.constexpr):
    # 1. Load the row of this program. What do lanes beyond the end have to hold, so that they are never taken?
    # 2. k times: find the largest and the first column that holds it, store both, take it out of the row.
    # That is slow for k = 50, and rows of 131,072 do not fit in a block: how could a part of the row be done at a time?
    pass


def topk(x: torch.Tensor, k: int, values: torch.Tensor, indices: torch.Tensor) -> None:
    raise NotImplementedError("topk: not written yet")
