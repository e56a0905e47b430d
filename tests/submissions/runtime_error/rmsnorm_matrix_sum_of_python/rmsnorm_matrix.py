# Python's sum in place of tl.sum.
# expect: in a kernel this is tl.sum
# never: misspelt
# base: rmsnorm_matrix
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#+    rms = tl.sqrt(sum(x * x) / n_cols + eps)
