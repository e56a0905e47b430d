# The result is assigned to the pointer's elements like an array's.
# expect: not indexed with [...]
# expect: tl.store(pointer + offsets
# never: shapes and types
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    out_ptr[offsets] = x * tl.sigmoid(x)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
