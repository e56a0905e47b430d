# Each of tens of thousands of programs prints in a loop, long after what is printed is full.
# verdict: wrong_answer, time_limit, runtime_error
# alone on a gpu: its kernel takes long to end there
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for turn in range(100_000):
        tl.device_print("lane")
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1),)](x, out, n - 1, BLOCK=1)
