# A sum by halves, as one writes it in Python.
# expect: halves calls itself
# expect: write a loop
# never: part of python
# shared: triton
@triton.jit
def halves(x_ptr, n):
    if n == 1:
        x = tl.load(x_ptr)
        return x * x
    return halves(x_ptr, n // 2) + halves(x_ptr + n // 2, n - n // 2)


@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    rms = tl.sqrt(halves(x_ptr, n) / n + eps)
    x = tl.load(x_ptr + cols, mask=cols < n)
    tl.store(out_ptr + cols, x / rms * tl.load(w_ptr + cols, mask=cols < n), mask=cols < n)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    rmsnorm_kernel[(1,)](x, weight, out, n, eps, BLOCK=triton.next_power_of_2(n))
