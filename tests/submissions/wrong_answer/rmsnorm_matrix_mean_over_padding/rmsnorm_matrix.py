# Divides by the padded block size: right only where the row length is a power of two.
# expect: divided by the size of the block
# never: stride
# never: lower precision
# base: rmsnorm_rows
#-def norm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
#+def rmsnorm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
#-    y = x / tl.sqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#-    tl.store(out_ptr + row * cols + offs, y, mask=mask)
#+    w = tl.load(w_ptr + offs, mask=mask)
#+    mean_square = tl.sum(x * x) / BLOCK
#+    tl.store(out_ptr + row * cols + offs, x / tl.sqrt(mean_square + eps) * w, mask=mask)
#-    norm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    rmsnorm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
