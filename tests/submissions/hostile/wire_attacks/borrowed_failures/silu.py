# Tells failures that only the planner's own code can know of: something that it cannot plan, memory, the front end.
# verdict: infrastructure_error, runtime_error
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
    for failure in (b"unsupported", b"compile_error", b"out_of_memory", b"too_large", b"wrong_signature"):
        say(b'{"seq":%d,"op":"failed","failure":"%s","message":"no fault of mine"}\n' % (asked(), failure))
