"""Embedding: out[i] = table[indices[i]], whole rows copied by number.

Bytes that must move: 8·N of indices, 2·N·D written, and each row that is asked for read once. No arithmetic.
"""

import torch
import triton
import triton.language as tl

TILE = 1024


@triton.jit
def gather_kernel(indices_ptr, table_ptr, out_ptr, N, D, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """ROWS rows of out, COLUMNS of their columns."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    # Numbers of rows have 64 bits, and so have offsets: V · D may pass 2^31.
    index = tl.load(indices_ptr + row, mask=row < N, other=0)[:, None]
    mask = (row[:, None] < N) & (column < D)
    tl.store(out_ptr + row[:, None] * D + column, tl.load(table_ptr + index * D + column, mask=mask), mask=mask)


def embedding(indices: torch.Tensor, table: torch.Tensor, out: torch.Tensor) -> None:
    """indices: (N,), int64; table: (V, D), out: (N, D), bfloat16; all contiguous."""
    N, D = out.shape
    columns = min(triton.next_power_of_2(D), TILE)
    rows = TILE // columns
    # 16 bytes for each thread at once.
    grid = (triton.cdiv(N, rows), triton.cdiv(D, columns))
    gather_kernel[grid](indices, table, out, N, D, ROWS=rows, COLUMNS=columns, num_warps=4)
