# Sorts blocks of a million elements over and over: a network that is unrolled, and evaluated, at great length.
# verdict: runtime_error, time_limit, memory_limit
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    for _ in range(100_000):
        x = tl.sort(x)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    silu_kernel[(4096,)](x, out, x.numel(), BLOCK=1048576)
