# The kernel is launched by a thread after the function has returned.
# verdict: wrong_answer
import threading
import time

import torch
# shared: triton
# shared: silu_kernel
def work(x, out):
    time.sleep(0.2)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)


def silu(x, out):
    silu_kernel[(1,)](x, out, 0, BLOCK=16)
    threading.Thread(target=work, args=(x, out), daemon=True).start()
