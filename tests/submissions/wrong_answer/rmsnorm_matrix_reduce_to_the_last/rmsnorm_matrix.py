# A reduction that keeps its second argument is to give the last element: which one comes last is not promised.
# expect: The answer depends on the order in which the reduction or scan in line 17
# shared: triton
@triton.jit
def second(a, b):
    return b


@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, N, eps, BLOCK: tl.constexpr):
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + lanes, mask=lanes < N, other=0.0)
    w = tl.load(w_ptr + lanes, mask=lanes < N, other=0.0)
    total = tl.reduce(tl.cumsum(x * x, axis=0), 0, second)
    tl.store(out_ptr + row * N + lanes, x * tl.rsqrt(total / N + eps) * w, mask=lanes < N)


def rmsnorm_matrix(x, weight, eps, out):
    M, N = x.shape
    rmsnorm_kernel[(M,)](x, weight, out, N, eps, BLOCK=max(16, triton.next_power_of_2(N)))
