# Tells a failure in escapes that stand for half characters, null bytes and markup.
# verdict: runtime_error
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
    text = b"\\ud800\\u0000<script>alert(1)</script>\\u001b[2J\\u202e=1+1" * 200
    say(b'{"seq":%d,"op":"failed","failure":"exception","message":"%s","line":9999999,"traceback":"%s"}\n'
        % (asked(), text, text))
