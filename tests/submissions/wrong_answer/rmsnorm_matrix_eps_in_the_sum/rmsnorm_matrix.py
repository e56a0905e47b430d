# eps is added to the sum, before it is divided.
# expect: eps was added to the sum
# never: stride
# never: lower precision
# base: rmsnorm_matrix
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#+    rms = tl.sqrt((tl.sum(x * x, axis=0) + eps) / n_cols)
