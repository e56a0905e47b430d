# The sum is not divided by the number of columns, and the weight is not used: neither mistake alone gives this answer.
# expect: Two mistakes together give this answer
# expect: The weight is missing
# expect: The sum of the squares was used for their mean
# never: cannot tell the cause
# base: rmsnorm_matrix
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#-    tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)
#+    rms = tl.sqrt(tl.sum(x * x, axis=0) + eps)
#+    tl.store(out_ptr + row * n_cols + cols, x / rms, mask=mask)
