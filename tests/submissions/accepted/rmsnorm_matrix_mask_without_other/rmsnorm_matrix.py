# The loads have a mask and no `other`: of x, what masked lanes hold goes into the sum; of the weight, nowhere.
# expect: The load of `x_ptr` in line 13 has a mask and no `other`, and the answer depends on the lanes that the mask
# never: The load of `w_ptr`
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask)
    w = tl.load(w_ptr + cols, mask=mask)
    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
