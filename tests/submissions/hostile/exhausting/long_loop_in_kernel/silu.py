# A loop of 2^60 rounds in each program, each of which changes a number, so that no compiler leaves it out.
# verdict: time_limit
# alone on a gpu: its kernel does not end there
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, rounds, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = x
    for turn in range(rounds):
        y = y * 0.5 + x / (1 + turn)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)) + y * 0.0, mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), 2**60, BLOCK=1024)
