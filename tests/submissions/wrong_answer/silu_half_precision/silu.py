# Computes in fp16 inside an fp32 kernel.
# expect: float16 can hold
# never: triton.cdiv
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float16)
    s = (1.0 / (1.0 + tl.exp(-x.to(tl.float32)))).to(tl.float16)
    tl.store(out_ptr + offs, (x * s).to(tl.float32), mask=mask)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
