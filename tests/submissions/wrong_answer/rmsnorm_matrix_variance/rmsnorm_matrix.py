# The variance in place of the mean square.
# expect: The variance was used
# base: rmsnorm_matrix
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#+    centred = tl.where(mask, x - tl.sum(x, axis=0) / n_cols, 0.0)
#+    rms = tl.sqrt(tl.sum(centred * centred, axis=0) / n_cols + eps)
