# Three warps, as 96 threads would be.
# expect: num_warps is 1, 2, 4
# never: an assertion of the submission
# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 96),)](x, out, n, BLOCK=128, num_warps=3)
