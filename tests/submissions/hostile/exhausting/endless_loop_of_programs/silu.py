# As many programs as a grid may have; all but a few find nothing to do.
# verdict: runtime_error, time_limit, memory_limit
# alone on a gpu: its kernel takes long to end there
# shared: triton
# shared: silu_kernel
def silu(x, out):
    silu_kernel[(2**31 - 1,)](x, out, x.numel(), BLOCK=128)
