# Prints from sixteen processes at once, after the function has gone.
# verdict: runtime_error, time_limit
import ctypes
import errno
import os

import triton
import triton.language as tl

PROCESSES, BLOCKS = 16, 16


def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork")
    return pid


def attack():
    block = b"x" * (1 << 20)
    for _ in range(PROCESSES):
        try:
            pid = fork()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM, errno.EPERM):
                raise
            break
        if pid == 0:
            try:
                for _ in range(BLOCKS):
                    os.write(1, block)
            finally:
                os._exit(0)
    raise RuntimeError("they print on")


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
