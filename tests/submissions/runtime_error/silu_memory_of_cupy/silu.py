# Scratch memory of another library.
# expect: allocate with torch.empty
# never: leave out plots
# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    import cupy

    n = x.numel()
    scratch = cupy.empty(n, dtype="float32")
    silu_kernel[(triton.cdiv(n, 1024),)](x, scratch, n, BLOCK=1024)
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
