# A square by `**`.
# expect: kernels have no powers
# never: spelling
# base: rmsnorm_matrix
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#+    rms = tl.sqrt(tl.sum(x**2, axis=0) / n_cols + eps)
