# Prints 256 MiB and hopes that the grader keeps it.
# verdict: runtime_error, time_limit
import sys

import triton
import triton.language as tl


def attack():
    block = "\x1b[31mflood <script>alert(1)</script>\n" * 32768
    for number in range(256):
        print(block, file=sys.stderr if number % 2 else sys.stdout)
    raise RuntimeError("the flood is over")


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
