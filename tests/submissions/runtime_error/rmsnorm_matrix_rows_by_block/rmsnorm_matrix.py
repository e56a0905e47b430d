# Rows are taken to begin BLOCK elements apart, not n_cols.
# expect: a row has cols = 9
# never: no mask
# never: triton.cdiv
# base: rmsnorm_matrix
#-    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
#+    x = tl.load(x_ptr + row * BLOCK + cols, mask=mask, other=0.0)
#-    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)
#+    tl.store(out_ptr + row * BLOCK + cols, x / rms * w, mask=mask)
