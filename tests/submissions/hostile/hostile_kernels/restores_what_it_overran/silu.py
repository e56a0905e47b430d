# Uses the memory behind the output as scratch, and puts back what was there: guards show what is not put back.
# verdict: runtime_error, wrong_answer
# needs: gpu
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    behind = tl.load(out_ptr + n + offsets)
    tl.store(out_ptr + n + offsets, x)
    tl.debug_barrier()
    y = tl.load(out_ptr + n + offsets)
    # NaN from beyond the input's end reaches the last element of the output.
    tl.store(out_ptr + offsets, y / (1 + tl.exp(-y)) + tl.sum(y, axis=0) * 0.0, mask=offsets < n)
    tl.store(out_ptr + n + offsets, behind)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
