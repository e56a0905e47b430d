# A pipelined loop loads from the tensor that it stores to, each round elements of its own.
# never: round
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        i = start + lanes
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
    for start in tl.range(0, n, BLOCK, num_stages=3):
        i = start + lanes
        x = tl.load(out_ptr + i, mask=i < n)
        tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    silu_kernel[(1,)](x, out, x.numel(), BLOCK=1024)
