# The root is forgotten.
# expect: square root is missing
# never: stride
# never: lower precision
# base: rmsnorm_vector
#-    rms = tl.sqrt(total / n + eps)
#+    mean = total / n + eps
#-        tl.store(out_ptr + offs, x / rms * w, mask=mask)
#+        tl.store(out_ptr + offs, x / mean * w, mask=mask)
