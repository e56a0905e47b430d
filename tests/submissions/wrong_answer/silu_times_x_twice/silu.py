# One factor x too many.
# expect: the right one times x
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x * x / (1.0 + tl.exp(-x)), mask=offs < n)
