# Hooks of the interpreter's end loop, then the process ends.
# verdict: runtime_error, time_limit
import sys
import weakref

import triton
import triton.language as tl


class Anything:
    pass


def loop():
    while True:
        pass


anything = Anything()
weakref.finalize(anything, loop)


def attack():
    sys.exit(0)


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
