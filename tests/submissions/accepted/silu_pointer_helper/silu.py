# Helpers that return pointers: one with two returns, and one of which a loop carries the result.
# shared: triton
@triton.jit
def block_of(pointer, first, BLOCK: tl.constexpr):
    if first >= 0:
        return pointer + first + tl.arange(0, BLOCK)
    return pointer + tl.arange(0, BLOCK)


@triton.jit
def next_block(pointers, BLOCK: tl.constexpr):
    return pointers + BLOCK


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    first = tl.program_id(0) * BLOCK * STEPS
    offsets = first + tl.arange(0, BLOCK)
    inputs, outputs = block_of(x_ptr, first, BLOCK), block_of(out_ptr, first, BLOCK)
    for _ in range(STEPS):
        x = tl.load(inputs, mask=offsets < n, other=0.0)
        tl.store(outputs, x * tl.sigmoid(x), mask=offsets < n)
        inputs, outputs = next_block(inputs, BLOCK), next_block(outputs, BLOCK)
        offsets += BLOCK


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 4096),)](x, out, n, BLOCK=1024, STEPS=4)
