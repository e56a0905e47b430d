# The pointer is indexed like an array.
# expect: not indexed with [...]
# expect: tl.load(pointer + offsets
# never: decorate it
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = x_ptr[offsets]
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
