# As many programs as a grid may have; all but a few find nothing to do.
# verdict: runtime_error, time_limit, memory_limit
# alone on a gpu: its kernel takes long to end there
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    silu_kernel[(2**31 - 1,)](x, out, x.numel(), BLOCK=128)
