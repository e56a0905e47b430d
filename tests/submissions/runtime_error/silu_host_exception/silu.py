# An exception in host code, for a size that the author did not expect.
# expect: raises this
# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    n = x.numel()
    if n % 1024 != 0:
        raise ValueError(f"{n} elements are not a multiple of 1024")
    silu_kernel[(n // 1024,)](x, out, n, BLOCK=1024)
