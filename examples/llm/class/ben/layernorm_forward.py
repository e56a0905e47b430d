# verdict: accepted
import triton
import triton.language as tl


BLOCK = 1024


@triton.jit
def layernorm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * N
    out_ptr += row * N
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < N, other=0.0)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        diff = tl.load(x_ptr + cols, mask=cols < N, other=mean) - mean
        squares += diff * diff
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(x_ptr + cols, mask=mask)
        w = tl.load(weight_ptr + cols, mask=mask)
        b = tl.load(bias_ptr + cols, mask=mask)
        tl.store(out_ptr + cols, (x - mean) * rstd * w + b, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


def layernorm_forward(x, weight, bias, eps, out, mean, rstd):
    layernorm_kernel[(x.shape[0],)](x, weight, bias, out, mean, rstd, x.shape[1], eps, BLOCK=BLOCK)
