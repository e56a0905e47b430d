# The front end prints at each of 50,000 unrolled rounds, a thousand letters each.
# verdict: wrong_answer, time_limit, runtime_error
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, TEXT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    for turn in tl.static_range(50_000):
        tl.static_print(TEXT)
    tl.store(out_ptr + offsets, x, mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), TEXT="a" * 1000, BLOCK=1024)
