# The sum of the squares is divided by the number of rows.
# expect: divided by the number of rows
# never: must divide by rows
# never: factor
# base: rmsnorm_matrix
#-def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
#+def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_rows, n_cols, eps, BLOCK: tl.constexpr):
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#-    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)
#+    mean = tl.sum(x * x, axis=0) / n_rows
#+    tl.store(out_ptr + row * n_cols + cols, x / tl.sqrt(mean + eps) * w, mask=mask)
#-    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    rmsnorm_kernel[(rows,)](x, weight, out, rows, cols, eps, BLOCK=triton.next_power_of_2(cols))
