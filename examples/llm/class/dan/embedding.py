# verdict: wrong_answer
# expect: an index for each row
import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(indices_ptr, table_ptr, out_ptr, N, D, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * ROWS
    rows = first + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    index = tl.load(indices_ptr + first)
    row = tl.load(table_ptr + index * D + column, mask=column < D)
    tl.store(out_ptr + rows * D + column, tl.broadcast_to(row, (ROWS, BLOCK)), mask=(rows < N) & (column < D))


def embedding(indices, table, out):
    N, D = out.shape
    gather_kernel[(triton.cdiv(N, 4),)](indices, table, out, N, D, ROWS=4, BLOCK=triton.next_power_of_2(D))
