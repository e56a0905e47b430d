# Waits on the host for something that never comes (gives up after ten minutes).
import time

import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)


def silu(x, out):
    n = x.numel()
    launched = 0
    give_up = time.monotonic() + 600
    while launched * 1024 != -n and time.monotonic() < give_up:
        launched += 1
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
