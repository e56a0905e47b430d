# A thread for each element of a block of 2048, by 64 warps.
# expect: num_warps is 1, 2, 4
# never: smaller blocks
# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    n, BLOCK = x.numel(), 2048
    silu_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK, num_warps=BLOCK // 32)
