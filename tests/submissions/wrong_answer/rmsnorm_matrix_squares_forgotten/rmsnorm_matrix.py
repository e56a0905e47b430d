# The mean of x is taken where the mean of its squares is meant.
# expect: the sum is of x itself
# never: stride
# never: lower precision
# base: rmsnorm_matrix
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#-    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)
#+    mean = tl.sum(x, axis=0) / n_cols
#+    tl.store(out_ptr + row * n_cols + cols, x / tl.sqrt(mean * mean + eps) * w, mask=mask)
