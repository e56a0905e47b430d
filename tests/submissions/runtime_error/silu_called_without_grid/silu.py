# kernel(...) rather than kernel[grid](...).
# expect: square brackets
# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    silu_kernel(x, out, x.numel(), BLOCK=1024)
