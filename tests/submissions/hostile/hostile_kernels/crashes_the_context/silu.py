# Stores through a null pointer in the last program: the context is lost, and all that was in it.
# verdict: runtime_error
# needs: gpu
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)
    if pid == tl.num_programs(0) - 1:
        nothing = (pid.to(tl.int64) * 0).to(tl.pointer_type(tl.float32))
        tl.store(nothing, 0.0)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
