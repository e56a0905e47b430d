import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, w_ptr, out_ptr, rstd, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    w = tl.load(w_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * rstd * w, mask=mask)


def rmsnorm_vector(x, weight, eps, out):
    n = x.numel()
    # could not work out how programs share a sum, so torch does this part
    rstd = torch.rsqrt(x.pow(2).mean() + eps).item()
    scale_kernel[(triton.cdiv(n, 4096),)](x, weight, out, rstd, n, BLOCK_SIZE=4096)
