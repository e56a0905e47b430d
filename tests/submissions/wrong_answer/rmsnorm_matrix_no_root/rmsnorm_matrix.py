# Divides by the mean square: the root is missing.
# expect: square root is missing
# never: stride
# never: lower precision
# base: rmsnorm_rows
#-    y = x / tl.sqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
#+    y = x / (tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
