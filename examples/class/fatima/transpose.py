import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, TM: tl.constexpr, TN: tl.constexpr):
    row = (tl.program_id(0) * TM + tl.arange(0, TM))[:, None]
    col = (tl.program_id(1) * TN + tl.arange(0, TN))[None, :]
    inside = (row < M) & (col < N)
    tile = tl.load(x_ptr + row * N + col, mask=inside, other=0.0)
    # Pointer arithmetic does the turn: element (row, col) goes to (col, row).
    tl.store(out_ptr + col * M + row, tile, mask=inside)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[triton.cdiv(M, 64), triton.cdiv(N, 32)](x, out, M, N, TM=64, TN=32)
