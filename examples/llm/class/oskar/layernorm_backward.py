# verdict: wrong_answer
# expect: The first rows are missing from dweight
import triton
import triton.language as tl


@triton.jit
def rows_kernel(dout_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    dout = tl.load(dout_ptr + row * N + cols, mask=mask, other=0.0)
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
    w = tl.load(weight_ptr + cols, mask=mask, other=0.0)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    g = dout * w
    c1 = tl.sum(g, axis=0) / N
    c2 = tl.sum(g * xhat, axis=0) / N
    tl.store(dx_ptr + row * N + cols, rstd * (g - c1 - xhat * c2), mask=mask)


@triton.jit
def columns_kernel(dout_ptr, x_ptr, mean_ptr, rstd_ptr, dweight_ptr, dbias_ptr, M, N, ROWS: tl.constexpr,
                   COLUMNS: tl.constexpr):
    col = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    dw = tl.zeros((COLUMNS,), dtype=tl.float32)
    db = tl.zeros((COLUMNS,), dtype=tl.float32)
    for start in range(1, M, ROWS):
        row = start + tl.arange(0, ROWS)
        mask = (row[:, None] < M) & (col[None, :] < N)
        place = row.to(tl.int64)[:, None] * N + col[None, :]
        dout = tl.load(dout_ptr + place, mask=mask, other=0.0)
        x = tl.load(x_ptr + place, mask=mask, other=0.0)
        mean = tl.load(mean_ptr + row, mask=row < M, other=0.0)[:, None]
        rstd = tl.load(rstd_ptr + row, mask=row < M, other=0.0)[:, None]
        dw += tl.sum(dout * (x - mean) * rstd, axis=0)
        db += tl.sum(dout, axis=0)
    tl.store(dweight_ptr + col, dw, mask=col < N)
    tl.store(dbias_ptr + col, db, mask=col < N)


def layernorm_backward(dout, x, weight, mean, rstd, dx, dweight, dbias):
    M, N = x.shape
    rows_kernel[(M,)](dout, x, weight, mean, rstd, dx, N, BLOCK=triton.next_power_of_2(N), num_warps=8)
    columns_kernel[(triton.cdiv(N, 32),)](dout, x, mean, rstd, dweight, dbias, M, N, ROWS=32, COLUMNS=32)
