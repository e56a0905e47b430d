# Each launch is right, and another one follows, for ever.
# verdict: runtime_error, time_limit, memory_limit
# shared: triton
# shared: silu_kernel
def silu(x, out):
    while True:
        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
