# Python's print in a kernel, to look at a block.
# expect: print takes a text first
# expect: tl.device_print
# never: odd
# never: type error
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    print(x)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
