# What the front end refuses is told with markup, escapes and marks that turn the text round.
# verdict: runtime_error
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK == 1, "<script>alert(1)</script>\x1b[2J\x9b2J\u202e=cmd|' /C calc'!A1")


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
