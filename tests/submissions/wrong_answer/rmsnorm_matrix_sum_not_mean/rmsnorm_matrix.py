# The sum of squares, not their mean.
# expect: divide it by the number of columns
# never: stride
# never: lower precision
# base: rmsnorm_rows
#-def norm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
#+def rmsnorm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
#-    y = x / tl.sqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#-    tl.store(out_ptr + row * cols + offs, y, mask=mask)
#+    w = tl.load(w_ptr + offs, mask=mask)
#+    rstd = tl.rsqrt(tl.sum(x * x) + eps)
#+    tl.store(out_ptr + row * cols + offs, x * rstd * w, mask=mask)
#-    norm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    rmsnorm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
