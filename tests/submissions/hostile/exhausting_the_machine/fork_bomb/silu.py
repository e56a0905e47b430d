# Starts 120 processes that sleep; bounded, each ends by itself after 20 seconds.
# verdict: runtime_error, memory_limit
import ctypes
import errno
import os
import time

import triton
import triton.language as tl

PROCESSES = 120


def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork")
    return pid


def attack():
    for count in range(PROCESSES):
        try:
            pid = fork()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM, errno.EPERM):
                raise
            raise RuntimeError(f"refused: {errno.errorcode[error.errno]} after {count} processes") from None
        if pid == 0:
            try:
                time.sleep(20)
            finally:
                os._exit(0)
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
