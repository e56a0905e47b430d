"""Transpose: out[j, i] = x[i, j].

Bytes that must move: 4·M·N read and 4·M·N written. FLOP: none.

The first kernel of one's own: one program a row of x. The 32 lanes of a warp read neighbours, 32 × 4 bytes = one line
of 128 bytes: the reads are coalesced. The same lanes write M elements apart: 32 lanes touch 32 sectors of 32 bytes, and
fill 4 bytes of each. Eight times the sectors that are needed go from the multiprocessors to the L2 cache.
"""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def row_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    # 64 bits, here and in every stage: offsets pass 2^31 in large matrices.
    lanes = tl.arange(0, BLOCK).to(tl.int64)
    for first in range(0, N, BLOCK):
        j = first + lanes
        row = tl.load(x_ptr + i * N + j, mask=j < N)
        tl.store(out_ptr + j * M + i, row, mask=j < N)


def transpose(x: torch.Tensor, out: torch.Tensor) -> None:
    """x: (M, N), out: (N, M), both float32 and contiguous."""
    M, N = x.shape
    row_kernel[(M,)](x, out, M, N, BLOCK=BLOCK)
