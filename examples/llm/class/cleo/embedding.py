# verdict: wrong_answer
# expect: they have 64 bits
import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(indices_ptr, table_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = column < D
    index = tl.load(indices_ptr + row)
    tl.store(out_ptr + row * D + column, tl.load(table_ptr + index * D + column, mask=mask), mask=mask)


def embedding(indices, table, out):
    N, D = out.shape
    BLOCK = min(triton.next_power_of_2(D), 1024)
    # Smaller numbers are faster.
    indices = indices.view(torch.int32)
    gather_kernel[(N, triton.cdiv(D, BLOCK))](indices, table, out, D, BLOCK=BLOCK)
