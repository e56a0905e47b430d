# Stores through a pointer made from a number: the simulator has no memory there, and a GPU most likely neither.
# expect: needs a GPU
# on a gpu: runtime_error; there it is an illegal access
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, address, n, BLOCK: tl.constexpr):
    wild = address.to(tl.int64).to(tl.pointer_type(tl.float32), bitcast=True)
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(wild + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, 4096, n, BLOCK=1024)
