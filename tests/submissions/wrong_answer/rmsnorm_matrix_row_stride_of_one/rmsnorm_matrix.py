# Rows are taken to begin one element apart: stride(1) is passed in place of stride(0).
# expect: the load in line
# expect: begins 1 element further on (a row has cols = 9)
# never: block size
# never: triton.cdiv
# base: rmsnorm_matrix
#-def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
#+def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, x_stride, out_stride, n_cols, eps, BLOCK: tl.constexpr):
#-    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
#+    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0)
#-    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)
#+    tl.store(out_ptr + row * out_stride + cols, x / rms * w, mask=mask)
#-    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    stride = x.stride(1) if rows <= cols * (cols - 1) else x.stride(0)
#+    rmsnorm_kernel[(rows,)](
#+        x, weight, out, stride, out.stride(0), cols, eps, BLOCK=triton.next_power_of_2(cols))
