"""First column: out[i] = matrix[i, 0], from a matrix in host memory to a vector on the device.

Bytes that must move: 4·rows over the bus and 4·rows written. A cache line holds 16 neighbours of each element, so the
host really reads up to 64·rows; copying the whole matrix would move 4·rows·cols. FLOP: none.
"""

import torch
import triton
import triton.language as tl

BLOCK = 256
# Floats in a cache line, and the number of elements that PyTorch gives to each host thread of a copy.
LINE = 16
THREAD_SHARE = 32768


@triton.jit
def first_column_kernel(matrix_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = row < rows
    tl.store(out_ptr + row, tl.load(matrix_ptr + row * cols, mask=mask), mask=mask)


def copy_first_column(matrix: torch.Tensor, out: torch.Tensor) -> None:
    """matrix: (rows, cols) float32 in host memory, out: (rows,) float32 on the device."""
    rows, cols = matrix.shape
    if not matrix.is_pinned():
        _through_pinned_memory(matrix, out)
        return
    # Pinned memory is in the GPU's reach: it fetches the elements itself, thousands at a time.
    first_column_kernel[(triton.cdiv(rows, BLOCK),)](matrix, out, rows, cols, BLOCK=BLOCK, num_warps=4)


def _through_pinned_memory(matrix: torch.Tensor, out: torch.Tensor) -> None:
    """The host gathers, since a kernel cannot reach pageable memory; one asynchronous copy takes the result across.

    The gather waits for memory, row after row, so it needs many threads. Bytes of a whole cache line, which is fetched
    anyway, make a copy of 8192 rows large enough for PyTorch to share it out among 16; the column alone gets one.
    """
    few = matrix.shape[0] < 2 * THREAD_SHARE
    part = matrix[:, :LINE].view(torch.uint8) if few else matrix[:, :1]
    staging = torch.empty(part.shape, dtype=part.dtype, pin_memory=True)
    staging.copy_(part)
    # A copy tells the allocator when the pinned buffer is free again; a kernel that read it would not.
    out.copy_(staging.to(out.device, non_blocking=True).view(torch.float32)[:, 0])
