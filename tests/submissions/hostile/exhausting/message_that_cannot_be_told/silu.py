# An exception that fails when it is turned into text, and whose class has no name.
# verdict: runtime_error
import triton
import triton.language as tl


class Mute(Exception):
    def __str__(self):
        raise SystemExit("no text")

    __repr__ = __str__


Mute.__name__ = ""


def attack():
    raise Mute


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
