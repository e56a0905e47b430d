# Stops every clock of Python, then takes its time over the last element.
# verdict: time_limit
import time

import torch
# shared: triton
# shared: silu_kernel
sleep, began = time.sleep, time.monotonic()
time.time = time.monotonic = time.perf_counter = time.process_time = lambda: began
time.time_ns = time.monotonic_ns = time.perf_counter_ns = lambda: int(began * 1e9)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel() - 1, 8192),)](x, out, x.numel() - 1, BLOCK=8192)
    sleep(30)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
