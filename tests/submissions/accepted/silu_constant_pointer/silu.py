# A pointer that nothing is stored through is declared so, and handed to a helper.
# shared: triton
@triton.jit
def loaded(pointer: tl.const, offsets, mask):
    return tl.load(pointer + offsets, mask=mask)


@triton.jit
def silu_kernel(x_ptr: tl.const, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = loaded(x_ptr, offsets, offsets < n)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
