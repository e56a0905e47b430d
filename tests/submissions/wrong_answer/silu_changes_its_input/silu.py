# The answer is right, but the sigmoid is left in x, which the caller still needs.
# expect: x changed during the call: the store in line 15 writes to x
# expect: inputs must not be changed
# never: triton.cdiv
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    s = tl.sigmoid(x)
    tl.store(x_ptr + offs, s, mask=mask)
    tl.store(out_ptr + offs, x * s, mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
