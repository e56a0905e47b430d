# A while loop inside the kernel and 64-bit offsets throughout.
# shared: triton
@triton.jit
def silu_while(x_ptr, out_ptr, n, per_program, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * per_program
    end = tl.minimum(start + per_program, n)
    while start < end:
        offs = start + tl.arange(0, BLOCK).to(tl.int64)
        mask = offs < end
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
        tl.store(out_ptr + offs, x / (tl.exp(-x) + 1.0), mask=mask)
        start += BLOCK


def silu(x, out):
    n = x.numel()
    programs = max(1, min(32, n // 1024))
    silu_while[(programs,)](x, out, n, triton.cdiv(n, programs), BLOCK=512)
