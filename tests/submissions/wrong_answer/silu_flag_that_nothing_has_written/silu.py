# A flag from torch.empty decides: which way is left to whoever had the memory before.
# expect: that nothing has written, and the answer depends on
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, flag_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    scale = tl.where(tl.load(flag_ptr) == 0, 2.0, 1.0)
    tl.store(out_ptr + i, scale * x * tl.sigmoid(x), mask=i < n)


def silu(x, out):
    flag = torch.empty(1, dtype=torch.int32, device=x.device)
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, flag, out, x.numel(), BLOCK=1024)
