# Starts 300 threads that sleep for five seconds.
# verdict: runtime_error, memory_limit
import threading
import time

import triton
import triton.language as tl

THREADS = 300


def attack():
    for count in range(THREADS):
        try:
            threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        except RuntimeError as error:
            raise RuntimeError(f"refused: {error} after {count}") from None
    time.sleep(1)


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
