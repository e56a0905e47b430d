# A factor of one half too many.
# expect: 0.5 times the right one
# never: triton.cdiv
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, 0.5 * x / (1.0 + tl.exp(-x)), mask=offs < n)
