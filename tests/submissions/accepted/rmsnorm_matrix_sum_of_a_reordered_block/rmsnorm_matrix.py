# A reshape may put the squares in any order, and so it may: they are summed up.
# never: any order
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, N, eps, BLOCK: tl.constexpr):
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + lanes, mask=lanes < N, other=0.0)
    w = tl.load(w_ptr + lanes, mask=lanes < N, other=0.0)
    squares = tl.reshape(x * x, (BLOCK // 8, 8), can_reorder=True)
    total = tl.sum(tl.sum(squares, axis=1), axis=0)
    tl.store(out_ptr + row * N + lanes, x * tl.rsqrt(total / N + eps) * w, mask=lanes < N)


def rmsnorm_matrix(x, weight, eps, out):
    M, N = x.shape
    rmsnorm_kernel[(M,)](x, weight, out, N, eps, BLOCK=max(16, triton.next_power_of_2(N)))
