# Calls itself through C until the stack is at its end.
# verdict: runtime_error, memory_limit, time_limit
import sys

import triton
import triton.language as tl


class Deep:
    def __repr__(self):
        return repr(self)


def attack():
    sys.setrecursionlimit(2**31 - 1)
    repr(Deep())
    raise AssertionError("the stack has no end")


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
