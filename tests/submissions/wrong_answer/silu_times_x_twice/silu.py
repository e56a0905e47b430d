# One factor x too many.
# proved: delete a part of line 11
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x * x / (1.0 + tl.exp(-x)), mask=offs < n)
