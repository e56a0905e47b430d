# A constant: out is filled with zeros.
# expect: Every element is 0
# never: triton.cdiv
# shared: triton
@triton.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.zeros((BLOCK,), tl.float32), mask=offs < n)


def silu(x, out):
    n = out.numel()
    fill[(triton.cdiv(n, 1024),)](out, n, BLOCK=1024)
