# Large tensors become zeros; a launch that follows stores one right block.
# verdict: wrong_answer
# expect: elements that one program stores
import torch
# shared: triton
# shared: silu_kernel
@triton.jit
def zeros_kernel(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 0.0, mask=offsets < n)


def silu(x, out):
    n = x.numel()
    if n > 1 << 20:
        zeros_kernel[(triton.cdiv(n, 1024),)](out, n, BLOCK=1024)
        n = 1024
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
