# The mask of the rows says <= where < is meant: one row too far.
# proved: lines 15 and 16 together
# proved: a different comparison in line 13
# never: stride
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, M, N, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    mask = (m[:, None] <= M) & (n[None, :] < N)
    offs = m[:, None] * N + n[None, :]
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    M, N = x.shape
    silu_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, B=32)
