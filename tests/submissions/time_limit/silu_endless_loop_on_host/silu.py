# Waits on the host for something that never comes (gives up after ten minutes).
# expect: The time ran out in this loop
import time

# shared: triton
# shared: sigmoid_kernel
def silu(x, out):
    n = x.numel()
    launched = 0
    give_up = time.monotonic() + 600
    while launched * 1024 != -n and time.monotonic() < give_up:
        launched += 1
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
