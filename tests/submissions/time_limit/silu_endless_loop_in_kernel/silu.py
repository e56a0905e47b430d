# The step of the loop in the kernel is forgotten (it would end after 2**24 rounds).
# alone on a gpu: its kernel does not end there
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rounds = 0
    while rounds < 16777216:
        x = tl.load(x_ptr + offs, mask=offs < n)
        tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)
        rounds += 1


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
