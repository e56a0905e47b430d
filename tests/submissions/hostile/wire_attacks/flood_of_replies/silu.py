# Answers as often as the channel takes it.
# verdict: runtime_error, time_limit
import io
import os
import stat

import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)

# shared: sockets
# shared: questions
def silu(x, out):
    global calls
    calls += 1
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
    for _ in range(300):
        say(PLANNED % asked())
