# A block pointer reads the transposed view of x, so no tl.trans is needed.
# triton: <3.9, which removed block pointers
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, sx0, sx1, so0, so1, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM
    j = tl.program_id(1) * BN
    src = tl.make_block_ptr(x_ptr, (N, M), (sx1, sx0), (j, i), (BN, BM), (0, 1))
    dst = tl.make_block_ptr(out_ptr, (N, M), (so0, so1), (j, i), (BN, BM), (1, 0))
    tl.store(dst, tl.load(src, boundary_check=(0, 1)), boundary_check=(0, 1))


def transpose(x, out):
    M, N = x.shape
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 32))
    transpose_kernel[grid](x, out, M, N, *x.stride(), *out.stride(), BM=64, BN=32)
