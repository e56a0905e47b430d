# verdict: wrong_answer
# expect: size of the block
import triton
import triton.language as tl


@triton.jit
def layernorm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / BLOCK
    diff = tl.where(mask, x - mean, 0.0)
    var = tl.sum(diff * diff, axis=0) / BLOCK
    rstd = 1 / tl.sqrt(var + eps)
    weight = tl.load(weight_ptr + cols, mask=mask)
    bias = tl.load(bias_ptr + cols, mask=mask)
    tl.store(out_ptr + row * N + cols, diff * rstd * weight + bias, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


def layernorm_forward(x, weight, bias, eps, out, mean, rstd):
    M, N = x.shape
    layernorm_kernel[(M,)](x, weight, bias, out, mean, rstd, N, eps, BLOCK=triton.next_power_of_2(N), num_warps=8)
