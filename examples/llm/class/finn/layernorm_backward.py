# verdict: wrong_answer
# expect: dweight
import triton
import triton.language as tl


@triton.jit
def zero_kernel(dweight_ptr, dbias_ptr, N, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dweight_ptr + cols, tl.zeros((BLOCK,), dtype=tl.float32), mask=cols < N)
    tl.store(dbias_ptr + cols, tl.zeros((BLOCK,), dtype=tl.float32), mask=cols < N)


@triton.jit
def backward_kernel(dout_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr, dbias_ptr, M, N,
                    BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0)
    dweight = tl.zeros((BLOCK,), dtype=tl.float32)
    dbias = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(tl.program_id(0), M, tl.num_programs(0)):
        start = row.to(tl.int64) * N
        dout = tl.load(dout_ptr + start + cols, mask=mask, other=0.0)
        x = tl.load(x_ptr + start + cols, mask=mask, other=0.0)
        mean = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        xhat = (x - mean) * rstd
        g = dout * weight
        dx = rstd * (g - tl.sum(g, axis=0) / N - xhat * (tl.sum(g * xhat, axis=0) / N))
        tl.store(dx_ptr + start + cols, dx, mask=mask)
        dweight += dout * xhat
        dbias += dout
    tl.store(dweight_ptr + cols, dweight, mask=mask)
    tl.store(dbias_ptr + cols, dbias, mask=mask)


def layernorm_backward(dout, x, weight, mean, rstd, dx, dweight, dbias):
    M, N = x.shape
    zero_kernel[(triton.cdiv(N, 1024),)](dweight, dbias, N, BLOCK=1024)
    backward_kernel[(min(M, 64),)](dout, x, weight, mean, rstd, dx, dweight, dbias, M, N,
                                   BLOCK=triton.next_power_of_2(N), num_warps=8)
