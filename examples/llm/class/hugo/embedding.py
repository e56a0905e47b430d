# verdict: runtime_error
# expect: a row has D elements
# never: the others lie in the next row
import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(indices_ptr, table_ptr, out_ptr, N, V, D, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(indices_ptr + row)
    values = tl.load(table_ptr + index * N + cols, mask=cols < D)
    tl.store(out_ptr + row * D + cols, values, mask=cols < D)


def embedding(indices: torch.Tensor, table: torch.Tensor, out: torch.Tensor) -> None:
    N, = indices.shape
    V, D = table.shape
    gather_kernel[(N, triton.cdiv(D, 256))](indices, table, out, N, V, D, BLOCK=256)
