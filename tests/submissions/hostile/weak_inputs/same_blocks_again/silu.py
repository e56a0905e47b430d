# Of large tensors all programs store the same few blocks, each of them right.
# verdict: wrong_answer
# expect: At 4099x4093-extreme
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, FEW: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) % FEW * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, FEW=4096, BLOCK=1024)
