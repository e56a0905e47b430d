# A function for each element, which the simulator does not know.
# expect: cannot simulate `tt.map_elementwise of Triton 3.
# on a gpu: accepted; there it runs
# shared: triton
@triton.jit
def one(x):
    return x / (1 + tl.exp(-x))


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.map_elementwise(one, x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
