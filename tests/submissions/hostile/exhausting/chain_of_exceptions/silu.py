# 100,000 exceptions, each the cause of the next, and a circle of them.
# verdict: runtime_error, memory_limit, time_limit
import triton
import triton.language as tl


def attack():
    first = last = ValueError(0)
    for number in range(100_000):
        one = ValueError(number)
        one.__cause__ = last
        last = one
    first.__cause__ = last
    raise last


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


try:
    attack()
except Exception as error:
    failed = error
else:
    failed = None


def silu(x, out):
    if failed is not None:
        raise failed
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
