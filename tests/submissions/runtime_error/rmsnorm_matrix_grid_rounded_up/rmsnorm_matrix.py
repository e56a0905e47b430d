# More programs than there are rows: a grid need not be a power of two.
# proved: line 14
# proved: lines 15 and 19 together
# never: does not end
# proved: makes every case right: a different mask
# base: rmsnorm_rows
#-def norm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
#+def kernel(x_ptr, w_ptr, out_ptr, rows, cols, eps, BLOCK: tl.constexpr):
#-    y = x / tl.sqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#+    w = tl.load(w_ptr + offs, mask=mask, other=0.0)
#+    ms = tl.sum(x * x, axis=0) / cols
#+    y = x * tl.rsqrt(ms + eps) * w
#-    norm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    kernel[(triton.next_power_of_2(rows),)](x, weight, out, rows, cols, eps, BLOCK=triton.next_power_of_2(cols))
