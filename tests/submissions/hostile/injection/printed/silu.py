# Prints the same, and bytes that are no text, and much of it.
# verdict: wrong_answer
import sys

import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)

# shared: nasty
def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    sys.stdout.buffer.write(NASTY.encode("utf-8", "surrogatepass") * 2000 + b"\xff\xfe\x80\n")
    sys.stderr.buffer.write(b"\x1b[31m<script>" * 20_000)
