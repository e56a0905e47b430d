# A loop that the front end unrolls: a million times the same line.
# verdict: runtime_error, time_limit, memory_limit
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    for turn in tl.static_range(1_000_000):
        x += 0.0 * turn
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
