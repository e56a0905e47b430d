# A thousand helper functions, each of which calls the next twice: two to the thousand calls, once they are inlined.
# verdict: runtime_error, time_limit, memory_limit
# shared: triton
@triton.jit
def twice(x, DEPTH: tl.constexpr):
    if DEPTH == 0:
        return x + 0.0
    else:
        return twice(x, DEPTH - 1) * 0.5 + twice(x, DEPTH - 1) * 0.5


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = twice(tl.load(x_ptr + offsets, mask=offsets < n), 200)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
