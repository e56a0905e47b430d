# Adds to zeros what it copies, and so loses the sign of -0.
# proved: line 13
# proved: a different operator
# shared: triton
@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    total += tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, total, mask=mask)


def vector_copy(x, out):
    copy_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
