# verdict: runtime_error
# expect: column
import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(indices_ptr, table_ptr, out_ptr, N, D, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    mask = row < N
    index = tl.load(indices_ptr + row, mask=mask, other=0)
    tl.store(out_ptr + row * D + column, tl.load(table_ptr + index * D + column, mask=mask), mask=mask)


def embedding(indices, table, out):
    N, D = out.shape
    gather_kernel[(triton.cdiv(N, 4),)](indices, table, out, N, D, ROWS=4, BLOCK=triton.next_power_of_2(D))
