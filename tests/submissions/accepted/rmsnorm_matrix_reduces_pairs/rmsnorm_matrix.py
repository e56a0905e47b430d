# A reduction of a function of its own, of two tensors at once: the order changes its rounding alone.
# never: order
# shared: triton
@triton.jit
def both(a, b, c, d):
    return a + c, b + d


@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, N, eps, BLOCK: tl.constexpr):
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + lanes, mask=lanes < N, other=0.0)
    w = tl.load(w_ptr + lanes, mask=lanes < N, other=0.0)
    total, _ = tl.reduce((x * x, x), 0, both)
    tl.store(out_ptr + row * N + lanes, x * tl.rsqrt(total / N + eps) * w, mask=lanes < N)


def rmsnorm_matrix(x, weight, eps, out):
    M, N = x.shape
    rmsnorm_kernel[(M,)](x, weight, out, N, eps, BLOCK=max(16, triton.next_power_of_2(N)))
