# A launch for each chunk of the data, and so hundreds of them: a generator says where each begins.
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def chunks(n, size):
    start = 0
    while start < n:
        yield start, min(size, n - start)
        start += size


def silu(x, out):
    x, out = x.flatten(), out.flatten()
    for start, length in chunks(x.numel(), 1 << 16):
        grid = (triton.cdiv(length, 4096),)
        silu_kernel[grid](x[start : start + length], out[start:], length, BLOCK=4096)
