# Rows of any length are described to the hardware, which takes multiples of 16 bytes. From Hopper on only.
# expect: No GPU takes the descriptor of
# expect: multiple of 16 bytes
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [16, BLOCK])
    row, column = tl.program_id(0) * 16, tl.program_id(1) * BLOCK
    x = source.load([row, column])
    rows, columns = row + tl.arange(0, 16)[:, None], column + tl.arange(0, BLOCK)[None, :]
    tl.store(out_ptr + rows * N + columns, x * tl.sigmoid(x), mask=(rows < M) & (columns < N))


def silu(x, out):
    M, N = x.shape
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    silu_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 64))](x, out, M, N, BLOCK=64)
