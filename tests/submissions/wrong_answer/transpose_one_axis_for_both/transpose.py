# Rows and columns both come from tl.program_id(0).
# expect: tl.program_id(
# never: axes are exchanged
# never: the mask of
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(0)
    m = pid_m * BLOCK + tl.arange(0, BLOCK)
    n = pid_n * BLOCK + tl.arange(0, BLOCK)
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, BLOCK=32)
