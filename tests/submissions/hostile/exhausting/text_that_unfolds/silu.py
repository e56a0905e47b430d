# Text that doubles 40 times, and a megabyte that unpacks to a gigabyte a thousand times.
# verdict: memory_limit, time_limit
import zlib

import triton
import triton.language as tl


def attack():
    pack = zlib.compressobj(9)
    small = b"".join(pack.compress(bytes(1 << 20)) for _ in range(1024)) + pack.flush()
    kept = [zlib.decompress(small) for _ in range(1000)]
    text = "lol"
    for _ in range(40):
        text += text
    raise AssertionError(f"{len(kept)} {len(text)}")


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
