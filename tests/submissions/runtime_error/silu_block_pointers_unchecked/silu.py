# A block pointer loads without boundary_check.
# triton: <3.9, which removed block pointers
# expect: boundary_check=(0, 1)
# never: has no mask
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    xp = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    op = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    x = tl.load(xp)
    tl.store(op, x / (1.0 + tl.exp(-x)), boundary_check=(0, 1))


def silu(x, out):
    M, N = x.shape
    silu_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 64))](x, out, M, N, BM=16, BN=64)
