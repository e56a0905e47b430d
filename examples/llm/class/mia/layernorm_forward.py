# verdict: wrong_answer
# expect: The wrong elements are exactly those in columns 2,048 to 4,098
# never: of every
import torch
import triton
import triton.language as tl


@triton.jit
def layernorm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + cols
        total += tl.load(x_ptr + row * N + c, mask=c < N, other=0.0)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        c = start + cols
        x = tl.load(x_ptr + row * N + c, mask=c < N, other=0.0)
        d = tl.where(c < N, x - mean, 0.0)
        squares += d * d
    var = tl.sum(squares, axis=0) / N
    rstd = 1.0 / tl.sqrt(var + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, N, BLOCK):
        c = start + cols
        m = c < N
        x = tl.load(x_ptr + row * N + c, mask=m, other=0.0)
        w = tl.load(weight_ptr + cols, mask=m, other=0.0)
        b = tl.load(bias_ptr + cols, mask=m, other=0.0)
        y = (x - mean) * rstd * w + b
        tl.store(out_ptr + row * N + c, y, mask=m)


def layernorm_forward(x, weight, bias, eps, out, mean, rstd):
    M, N = x.shape
    BLOCK = min(2048, triton.next_power_of_2(N))
    layernorm_kernel[(M,)](x, weight, bias, out, mean, rstd, N, eps, BLOCK=BLOCK)
