# Timed sizes are refused by the function itself.
# expect: At 4099x4093-extreme
# expect: ValueError: at most a million elements
# shared: triton
# shared: silu_kernel
def silu(x, out):
    n = x.numel()
    if n > 1_000_000:
        raise ValueError("at most a million elements")
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
