# A launch for each element, hundreds of thousands in all.
# verdict: runtime_error, time_limit
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            silu_kernel[(1,)](x[row, column:], out[row, column:], 1, BLOCK=16)
