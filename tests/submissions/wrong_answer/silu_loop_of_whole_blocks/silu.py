# Programs go on from block to block, of which there are as many as are full: none stores the last, partial one.
# expect: some of them come to the store in line 15 fewer times than the first one, or never
# proved: a division that is rounded in a different way
# never: it is the mask
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    blocks = n // BLOCK
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        at = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n)
        tl.store(out_ptr + at, x * tl.sigmoid(x), mask=at < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(min(triton.cdiv(n, 1024), 432),)](x, out, n, BLOCK=1024)
