"""Transpose: out[j, i] = x[i, j].

Bytes that must move: 4·M·N read and 4·M·N written. FLOP: none.

Against v1: one program a row of out, so that the writes are coalesced and the reads lie N elements apart. The waste is
on the other side now, 4 bytes used of each sector of 32. But a read leaves its whole sector in a cache, where programs
of the next columns, which run at the same time, find the rest; a partly filled sector that is written waits for nobody
in L1 and goes on to L2 at once. Still eight times the sectors that are needed pass between L2 and the multiprocessors.
"""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def column_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    j = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK).to(tl.int64)
    for first in range(0, M, BLOCK):
        i = first + lanes
        column = tl.load(x_ptr + i * N + j, mask=i < M)
        tl.store(out_ptr + j * M + i, column, mask=i < M)


def transpose(x: torch.Tensor, out: torch.Tensor) -> None:
    """x: (M, N), out: (N, M), both float32 and contiguous."""
    M, N = x.shape
    column_kernel[(N,)](x, out, M, N, BLOCK=BLOCK)
