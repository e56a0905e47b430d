import triton
import triton.language as tl

# Triton where it is short, CUDA where I want to see the threads


@triton.jit
def my_silu(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    ok = i < n
    v = tl.load(x + i, mask=ok, other=0)
    v = v * (1 / (1 + tl.exp(-v)))
    tl.store(y + i, v, mask=ok)


def silu(x, out):
    n = x.shape[0] * x.shape[1]
    B = 256
    number_of_blocks = (n + B - 1) // B
    my_silu[(number_of_blocks,)](x, out, n, B, num_warps=1)
