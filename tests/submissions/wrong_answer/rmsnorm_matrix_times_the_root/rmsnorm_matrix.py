# x is multiplied by the root where it is to be divided.
# expect: multiplied by the root
# never: stride
# never: lower precision
# base: rmsnorm_matrix
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#+    rms = tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
