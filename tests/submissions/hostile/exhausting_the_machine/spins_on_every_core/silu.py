# Twenty processes, and a thread in each, spin for as long as they are let, so that whoever is graded beside it runs out
# of time; the plan waits until somebody ends it. Each ends by itself after twenty seconds.
# verdict: runtime_error, time_limit, policy_violation
import ctypes
import os
import threading
import time

# shared: triton
# shared: fork
# shared: silu_kernel
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
