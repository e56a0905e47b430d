# The weight is multiplied twice.
# proved: line 15 or line 16
# never: precision
# base: rmsnorm_matrix
#-    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)
#+    tl.store(out_ptr + row * n_cols + cols, x / rms * w * w, mask=mask)
