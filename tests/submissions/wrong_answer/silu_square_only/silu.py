# Takes the number of elements to be rows times rows.
# expect: the mask of the store
# expect: M * M =
# never: triton.cdiv
# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    n = min(x.shape) * min(x.shape)
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
