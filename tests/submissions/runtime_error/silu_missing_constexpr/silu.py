# BLOCK is not given at the launch.
# expect: passes no 'BLOCK'
# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n)
