# Every process starts two more, six generations deep: 126 in all, gone after 20 seconds.
# verdict: runtime_error, memory_limit
import ctypes
import errno
import os
import time

import triton
import triton.language as tl

GENERATIONS = 6


def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork")
    return pid


def grow(generation, told):
    for _ in range(2 if generation else 0):
        try:
            pid = fork()
        except OSError as error:
            os.write(told, errno.errorcode[error.errno].encode() + b" ")
            continue
        if pid == 0:
            try:
                grow(generation - 1, told)
                time.sleep(20)
            finally:
                os._exit(0)


def attack():
    heard, told = os.pipe()
    grow(GENERATIONS, told)
    time.sleep(1.5)
    os.set_blocking(heard, False)
    try:
        raise RuntimeError(f"refused: {os.read(heard, 100).decode()}")
    except BlockingIOError:
        return


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
