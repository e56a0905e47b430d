# Programs go on to further blocks with the mask of their first one.
# expect: computes `mask` once, before the loop, and `offs` moves on
# never: Does the mask compare
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    step = tl.num_programs(0) * BLOCK
    for begin in range(tl.program_id(0) * BLOCK, n, step):
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
        tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=mask)
        offs += step


def silu(x, out):
    n = x.numel()
    silu_kernel[(min(16, triton.cdiv(n, 512)),)](x, out, n, BLOCK=512)
