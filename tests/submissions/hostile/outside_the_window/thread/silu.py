# The kernel is launched by a thread after the function has returned.
# verdict: wrong_answer
import threading
import time

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def work(x, out):
    time.sleep(0.2)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)


def silu(x, out):
    silu_kernel[(1,)](x, out, 0, BLOCK=16)
    threading.Thread(target=work, args=(x, out), daemon=True).start()
