# The kernel scales, but the row statistics come from PyTorch.
import torch
# shared: triton
@triton.jit
def scale_rows(x_ptr, w_ptr, r_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    y = tl.load(x_ptr + row * cols + offs, mask=mask) * tl.load(r_ptr + row) * tl.load(w_ptr + offs, mask=mask)
    tl.store(out_ptr + row * cols + offs, y, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rstd = torch.rsqrt(x.pow(2).mean(dim=1) + eps)
    scale_rows[(rows,)](x, weight, rstd, out, cols, BLOCK=triton.next_power_of_2(cols))
