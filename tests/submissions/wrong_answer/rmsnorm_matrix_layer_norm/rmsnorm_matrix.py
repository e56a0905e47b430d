# LayerNorm: the mean is subtracted first.
# expect: does not centre
# never: stride
# never: lower precision
# base: rmsnorm_rows
#-    y = x / tl.sqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#+    mean = tl.sum(x) / cols
#+    centred = tl.where(mask, x - mean, 0.0)
#+    variance = tl.sum(centred * centred) / cols
#+    y = centred * tl.rsqrt(variance + eps) * tl.load(w_ptr + offs, mask=mask)
