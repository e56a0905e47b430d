# A chain of a million objects is freed, one inside the other.
# verdict: runtime_error, time_limit, memory_limit
import triton
import triton.language as tl


class Link:
    __slots__ = ("next",)

    def __del__(self):
        self.next


def attack():
    last = None
    for _ in range(1_000_000):
        link = Link()
        link.next = last
        last = link
    del link, last
    raise RuntimeError("freed")


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
