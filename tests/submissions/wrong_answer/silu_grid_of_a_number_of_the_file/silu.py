# The grid is a function, and counts with a number of the file in place of the configuration's.
# expect: the grid is counted for larger blocks than the
# expect: META["BLOCK"]
# never: a mask
import triton
import triton.language as tl

BLOCK = 1024


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x * tl.sigmoid(x), mask=at < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[lambda meta: (triton.cdiv(n, BLOCK),)](x, out, n)
