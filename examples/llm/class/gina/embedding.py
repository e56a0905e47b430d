# verdict: wrong_answer
# expect: √D
# never: moves on
import math

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(indices_ptr, table_ptr, out_ptr, D, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    index = tl.load(indices_ptr + row)
    for first in range(0, D, BLOCK):
        column = first + tl.arange(0, BLOCK)
        x = tl.load(table_ptr + index * D + column, mask=column < D)
        tl.store(out_ptr + row * D + column, x * scale, mask=column < D)


def embedding(indices, table, out):
    N, D = out.shape
    # As in "Attention is all you need", section 3.4.
    gather_kernel[(N,)](indices, table, out, D, math.sqrt(D), BLOCK=256)
