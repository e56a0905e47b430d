# The weight is multiplied twice.
# expect: the right one times weight
# never: precision
# base: rmsnorm_matrix
#-    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)
#+    tl.store(out_ptr + row * n_cols + cols, x / rms * w * w, mask=mask)
