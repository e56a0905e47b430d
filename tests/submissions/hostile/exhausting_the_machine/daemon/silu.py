# A daemon in a session of its own, orphaned, without descriptors; ends by itself after 20 seconds.
# verdict: runtime_error
# expect: daemon
import ctypes
import errno
import os
import time

import triton
import triton.language as tl


def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise RuntimeError(f"no daemon: {errno.errorcode[ctypes.get_errno()]}")
    return pid


def attack():
    if fork() == 0:
        try:
            os.setsid()
            if fork() == 0:
                os.closerange(0, 256)
                time.sleep(20)
        finally:
            os._exit(0)
    os.wait()
    raise RuntimeError("left a daemon")


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
