# Rows are taken to begin one element apart: stride(1) is passed in place of stride(0).
# expect: the load in line
# expect: by 1 element of x, whose rows lie cols = 9 apart
# never: block size
# never: triton.cdiv
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, x_stride, out_stride, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(out_ptr + row * out_stride + cols, x / rms * w, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    stride = x.stride(1) if rows <= cols * (cols - 1) else x.stride(0)
    rmsnorm_kernel[(rows,)](
        x, weight, out, stride, out.stride(0), cols, eps, BLOCK=triton.next_power_of_2(cols))
