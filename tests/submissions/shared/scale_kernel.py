@triton.jit
def scale_kernel(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    rstd = tl.rsqrt(tl.load(total_ptr) / n + eps)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask) * rstd * tl.load(w_ptr + i, mask=mask), mask=mask)


