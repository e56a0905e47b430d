# The weight is added.
# expect: The weight was added
# base: rmsnorm_matrix
#-    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)
#+    tl.store(out_ptr + row * n_cols + cols, x / rms + w, mask=mask)
