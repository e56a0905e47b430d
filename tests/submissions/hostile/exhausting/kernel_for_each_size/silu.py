# Every launch is compiled anew, for a constant of its own: a thousand kernels.
# verdict: runtime_error, time_limit
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, TURN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)) + TURN * 0.0, mask=offsets < n)


def silu(x, out):
    for turn in range(1000):
        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), TURN=turn, BLOCK=1024)
