# The strides of out are passed in the wrong order, so that the tile lands as it was.
# proved: line 15 makes every case right: two names exchanged
# never: a mask that is turned
# never: triton.cdiv
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, stride_xm, stride_xn, stride_on, stride_om, BLOCK: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offs_n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :] * stride_xn, mask=mask)
    tl.store(out_ptr + offs_n[None, :] * stride_on + offs_m[:, None] * stride_om, x, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        x, out, M, N, x.stride(0), x.stride(1), out.stride(1), out.stride(0), BLOCK=32)
