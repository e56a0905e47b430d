# Block pointers with boundary checks in both directions.
# triton: <3.9, which removed block pointers
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    x_block = tl.make_block_ptr(
        x_ptr, shape=(M, N), strides=(N, 1), offsets=(row, col), block_shape=(BM, BN), order=(1, 0)
    )
    o_block = tl.make_block_ptr(
        out_ptr, shape=(M, N), strides=(N, 1), offsets=(row, col), block_shape=(BM, BN), order=(1, 0)
    )
    x = tl.load(x_block, boundary_check=(0, 1), padding_option="zero")
    tl.store(o_block, x / (1 + tl.exp(-x)), boundary_check=(0, 1))


def silu(x, out):
    M, N = x.shape
    silu_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 128))](x, out, M, N, BM=16, BN=128)
