# A launch for each element, hundreds of thousands in all.
# verdict: runtime_error, time_limit
# shared: triton
# shared: silu_kernel
def silu(x, out):
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            silu_kernel[(1,)](x[row, column:], out[row, column:], 1, BLOCK=16)
