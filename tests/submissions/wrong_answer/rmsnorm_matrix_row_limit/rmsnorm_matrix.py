# At most 32 programs are started, and each does a single row: later rows are never written.
# expect: starts 32 programs
# expect: covers only the first 32
# never: mask
# never: exchanged
# base: rmsnorm_rows
#-    y = x / tl.sqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#+    y = x * tl.rsqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#-    norm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    norm_rows[(min(rows, 32),)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
