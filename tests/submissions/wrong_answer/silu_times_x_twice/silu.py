# One factor x too many.
# proved: line 11 makes every case right: something that should not be there
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x * x / (1.0 + tl.exp(-x)), mask=offs < n)
