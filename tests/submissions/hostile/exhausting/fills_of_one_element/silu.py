# Sixteen thousand fills of one element of a large tensor, after each of which all of it would be looked at.
# verdict: wrong_answer, time_limit, runtime_error
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    n = x.numel()
    large = torch.empty(1 << 24, device=x.device)
    for _ in range(16_000):
        large[:1] = 0
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n - 1, BLOCK=1024)
