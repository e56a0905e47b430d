"""Copy of a vector: out[i] = x[i].

x, out: (N,) float32, contiguous, any N from 1 on. Write into out, which arrives full of NaN; leave x alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # 1. Which BLOCK elements are this program's? tl.program_id(0) and tl.arange give their offsets.
    # 2. Which of them exist? The last block reaches past n: make a mask.
    # 3. Load them from x, store them to out, both with the mask.
    pass


def vector_copy(x: torch.Tensor, out: torch.Tensor) -> None:
    # How many programs are needed for x.numel() elements? Launch as copy_kernel[(programs,)](...).
    raise NotImplementedError("vector_copy: not written yet")
