# Rows are taken to be a block apart rather than a row apart, with the last ones wrapped to stay inside.
# expect: a row has cols = 9
# never: triton.cdiv
# never: lower precision
# base: rmsnorm_rows
#-def norm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
#+def norm_rows(x_ptr, w_ptr, out_ptr, rows, cols, eps, BLOCK: tl.constexpr):
#-    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
#-    y = x / tl.sqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#+    base = (row * BLOCK) % (rows * cols - cols + 1)
#+    x = tl.load(x_ptr + base + offs, mask=mask, other=0.0)
#+    y = x * tl.rsqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#-    norm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    norm_rows[(rows,)](x, weight, out, rows, cols, eps, BLOCK=triton.next_power_of_2(cols))
