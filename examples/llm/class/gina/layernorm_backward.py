# verdict: wrong_answer
# expect: dweight
import triton
import triton.language as tl


@triton.jit
def rows_kernel(dout_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    dout = tl.load(dout_ptr + row * N + cols, mask=mask, other=0.0)
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = (x - mean) * rstd
    g = dout * weight
    first = tl.sum(g, axis=0) / N
    second = tl.sum(g * xhat, axis=0) / N
    tl.store(dx_ptr + row * N + cols, rstd * (g - first - xhat * second), mask=mask)


@triton.jit
def columns_kernel(dout_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dweight_ptr, dbias_ptr, M, N, ROWS: tl.constexpr,
                   COLS: tl.constexpr):
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    dweight = tl.zeros((ROWS, COLS), dtype=tl.float32)
    dbias = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for step in range(M // ROWS):
        rows = step * ROWS + tl.arange(0, ROWS)
        mask = (rows < M)[:, None] & (cols < N)[None, :]
        at = rows.to(tl.int64)[:, None] * N + cols[None, :]
        dout = tl.load(dout_ptr + at, mask=mask, other=0.0)
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        mean = tl.load(mean_ptr + rows, mask=rows < M, other=0.0)
        rstd = tl.load(rstd_ptr + rows, mask=rows < M, other=0.0)
        dweight += dout * (x - mean[:, None]) * rstd[:, None]
        dbias += dout
    total = tl.sum(dweight, axis=0)
    tl.store(dweight_ptr + cols, total, mask=cols < N)
    tl.store(dbias_ptr + cols, tl.sum(dbias, axis=0), mask=cols < N)


def layernorm_backward(dout, x, weight, mean, rstd, dx, dweight, dbias):
    M, N = x.shape
    rows_kernel[(M,)](dout, x, weight, mean, rstd, dx, N, BLOCK=triton.next_power_of_2(N), num_warps=8)
    columns_kernel[(triton.cdiv(N, 64),)](dout, x, weight, mean, rstd, dweight, dbias, M, N, ROWS=32, COLS=64)
