# Prints the same, and bytes that are no text, and much of it.
# verdict: wrong_answer
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)

NASTY = (
    "<script>alert('kernelmark')</script><img src=x onerror=alert(1)>"
    "\x1b[2J\x1b[31m\x1b]0;kernelmark\x07\x9b31m"
    "\r\n=cmd|' /C calc'!A1\t@SUM(1+1)\n+1\n-1"
    "\u202egnitaerc\u202c\u2066\u200f\u0000\u0008\x7f\ud800\udfff\ufeff"
    "{{ 7 * 7 }}{% raw %}`</code>`]]>--><!--"
)


def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    sys.stdout.buffer.write(NASTY.encode("utf-8", "surrogatepass") * 2000 + b"\xff\xfe\x80\n")
    sys.stderr.buffer.write(b"\x1b[31m<script>" * 20_000)
