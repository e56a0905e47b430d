# verdict: wrong_answer
# expect: Fill dweight before the launch, with 0
# never: beta
import triton
import triton.language as tl


@triton.jit
def rows_kernel(dout_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr, dbias_ptr, M, N,
                ROWS: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0) * ROWS
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    w = tl.load(weight_ptr + cols, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    
    for row in range(start, min(start + ROWS, M)):
        place = row * N + cols
        dout = tl.load(dout_ptr + place, mask=mask, other=0.0)
        x = tl.load(x_ptr + place, mask=mask, other=0.0)
        mean = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        xhat = tl.where(mask, (x - mean) * rstd, 0.0)
        g = dout * w
        c1 = tl.sum(g, axis=0) / N
        c2 = tl.sum(g * xhat, axis=0) / N
        tl.store(dx_ptr + place, rstd * (g - c1 - xhat * c2), mask=mask)
        dw += dout * xhat
        db += dout
    tl.atomic_add(dweight_ptr + cols, dw, mask=mask)
    tl.atomic_add(dbias_ptr + cols, db, mask=mask)


def layernorm_backward(dout, x, weight, mean, rstd, dx, dweight, dbias):
    M, N = x.shape
    
    rows_kernel[(triton.cdiv(M, 16),)](dout, x, weight, mean, rstd, dx, dweight, dbias, M, N, ROWS=16,
                                       BLOCK=triton.next_power_of_2(N), num_warps=8)
