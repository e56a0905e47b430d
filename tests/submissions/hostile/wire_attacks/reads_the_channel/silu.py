# Reads the next question itself, so that the worker waits for it in vain.
# verdict: time_limit, runtime_error
import io
import os
import stat
import threading
import time

import torch
# shared: triton
# shared: silu_kernel
def sockets():
    """The descriptors that are sockets: one of them leads to the judge."""
    found = []
    for number in range(3, 128):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                found.append(number)
        except OSError:
            pass
    return found


def say(frame):
    for number in sockets():
        try:
            io.FileIO(number, "w", closefd=False).write(frame)
        except OSError:
            pass


def swallow(number):
    while io.FileIO(number, "r", closefd=False).read(1 << 17):
        pass


for one in sockets():
    threading.Thread(target=swallow, args=(one,), daemon=True).start()
# Who waits first is served first.
time.sleep(0.2)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
