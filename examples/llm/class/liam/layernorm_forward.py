# verdict: runtime_error
# expect: weight has N elements
# never: Does the mask
import torch
import triton
import triton.language as tl


@triton.jit
def layernorm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / N
    d = tl.where(mask, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(d * d, axis=0) / N + eps)
    w = tl.load(weight_ptr + row)
    b = tl.load(bias_ptr + cols, mask=mask)
    tl.store(out_ptr + row * N + cols, (x - mean) * rstd * w + b, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


def layernorm_forward(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float, out: torch.Tensor,
                      mean: torch.Tensor, rstd: torch.Tensor) -> None:
    M, N = x.shape
    layernorm_kernel[(M,)](x, weight, bias, out, mean, rstd, N, eps, BLOCK=triton.next_power_of_2(N), num_warps=8)
