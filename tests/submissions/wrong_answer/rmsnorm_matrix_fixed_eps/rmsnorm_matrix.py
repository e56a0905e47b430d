# eps is written into the kernel as 1e-5.
# expect: eps is written into the kernel as 1e-5
# never: stride
# never: lower precision
# base: rmsnorm_matrix
#-def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
#+def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#-    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)
#+    mean = tl.sum(x * x, axis=0) / n_cols
#+    tl.store(out_ptr + row * n_cols + cols, x * tl.rsqrt(mean + 1e-5) * w, mask=mask)
#-    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    rmsnorm_kernel[(rows,)](x, weight, out, cols, BLOCK=triton.next_power_of_2(cols))
