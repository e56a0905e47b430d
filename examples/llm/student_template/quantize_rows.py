"""Quantisation of rows: scales[i] = max over j of |x[i, j]| / 127, values[i, j] = x[i, j] / scales[i], rounded to the
nearest whole number, halves to the even one. A row of zeros has scale 0 and values 0.

x: (M, N) bfloat16; values: (M, N) int8; scales: (M,) float32; contiguous, any sizes from 1 on. Write into values, which
arrive full of one arbitrary number, and into scales, which arrive full of NaN; leave x alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def quantize_kernel(x_ptr, values_ptr, scales_ptr, N, BLOCK: tl.constexpr):
    # 1. Which row is this program's?
    # 2. Load it. What do lanes beyond the end have to hold, so that the maximum does not see them?
    # 3. The largest |x|, in float32 before you divide. What if it is 0?
    # 4. Divide, round (triton.language.extra.libdevice has rint), convert to tl.int8, store; store the scale.
    pass


def quantize_rows(x: torch.Tensor, values: torch.Tensor, scales: torch.Tensor) -> None:
    # BLOCK must be a power of two: triton.next_power_of_2(N) covers a row, unless that has tens of thousands of
    # columns.
    raise NotImplementedError("quantize_rows: not written yet")
