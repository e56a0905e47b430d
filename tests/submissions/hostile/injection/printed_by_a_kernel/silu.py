# A kernel prints markup, escapes of the terminal and marks that turn the text round, and its asserts say the same.
# verdict: runtime_error, wrong_answer
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.device_print("<script>alert(1)</script>\x1b[2J\x9b2J\u202e<img src=x onerror=alert(1)>", x)
    tl.device_assert(offsets < 0, "<script>alert(2)</script>\x1b[2J\u2066")
    tl.store(out_ptr + offsets, x, mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
