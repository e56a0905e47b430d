import torch
import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    w = tl.load(w_ptr + cols, mask=mask)
    # mean of the squares
    ms = tl.sum(x * x, axis=0) / BLOCK_SIZE
    tl.store(out_ptr + row * n_cols + cols, x * tl.rsqrt(ms + eps) * w, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    n_rows, n_cols = x.shape
    rmsnorm_kernel[(n_rows,)](x, weight, out, n_cols, eps, BLOCK_SIZE=triton.next_power_of_2(n_cols))
