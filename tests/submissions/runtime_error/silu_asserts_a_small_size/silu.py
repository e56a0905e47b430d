# An assertion that only large sizes break.
# expect: At 4099x4093-extreme
# expect: tl.device_assert
# shared: triton
@triton.jit(debug=True)
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tl.device_assert(n < 1000000, "n is large")
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
