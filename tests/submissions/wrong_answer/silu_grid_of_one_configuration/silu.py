# The grid is counted for one of the blocks that an autotuner may take.
# expect: The grid has to follow the configuration
# never: triton.cdiv(M * N, 128)
# shared: triton
@triton.autotune([triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x * tl.sigmoid(x), mask=at < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 256),)](x, out, n)
