# |x|³ in the sum, which is known nowhere.
# expect: constant factor of its own
# expect: such as a sum
# never: precision
# base: rmsnorm_matrix
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#+    rms = tl.sqrt(tl.sum(x * x * tl.abs(x), axis=0) / n_cols + eps)
