"""First column: out[i] = matrix[i, 0], from a matrix in host memory to a vector on the device.

Bytes that must move: 4·rows over the bus and 4·rows written. A cache line holds 16 neighbours of each element, so the
host really reads up to 64·rows; copying the whole matrix would move 4·rows·cols. FLOP: none.
"""

import torch
import triton
import triton.language as tl

BLOCK = 1024


def oracle(matrix: torch.Tensor) -> torch.Tensor:
    """The right answer in float64, of shape (rows,)."""
    return matrix[:, 0].double()


@triton.jit
def first_column_kernel(matrix_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = row < rows
    tl.store(out_ptr + row, tl.load(matrix_ptr + row * cols, mask=mask), mask=mask)


def copy_first_column(matrix: torch.Tensor, out: torch.Tensor) -> None:
    """matrix: (rows, cols) float32 in host memory, out: (rows,) float32 on the device."""
    if out.is_cuda and not matrix.is_pinned():
        # A kernel cannot reach pageable memory: the host gathers the column, and one copy takes it across.
        out.copy_(matrix[:, 0])
        return
    rows, cols = matrix.shape
    first_column_kernel[(triton.cdiv(rows, BLOCK),)](matrix, out, rows, cols, BLOCK=BLOCK)
