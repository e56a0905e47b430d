# Sends the messages that pass between judge and zygote.
# verdict: runtime_error
# expect: must not close, print to or write into file descriptors
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
def silu(x, out):
    global calls
    calls += 1
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
    for frame in (b'{"seq":0,"op":"ready","python":"","torch":"","triton":"","numpy":""}\n',
                  b'{"seq":1,"op":"spawned","pid":1}\n', b'{"seq":1,"op":"reaped","survivors":0}\n',
                  b'{"seq":1,"op":"spawn","folder":"/","limits":{}}\n'):
        say(frame)
