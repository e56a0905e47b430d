# Sends frames whose fields hold what no answer holds: huge numbers, other types, names twice.
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
# shared: questions
def silu(x, out):
    global calls
    calls += 1
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
    for frame in (
        b'{"seq":1e400,"op":"planned","bytes":10}\n',
        b'{"seq":%d,"op":"planned","bytes":-1}\n' % asked(),
        b'{"seq":%d,"op":"planned","bytes":10,"score":100,"verdict":"accepted"}\n' % asked(),
        b'{"seq":%d,"seq":true,"op":"loaded","op":["planned"]}\n' % asked(),
        b'{"seq":' + b"9" * 50_000 + b',"op":"planned"}\n',
    ):
        say(frame)
