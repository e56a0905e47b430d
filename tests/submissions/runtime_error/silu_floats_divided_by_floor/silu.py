# `//` between floats.
# expect: divide floats with /
# never: part of python
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x // (1.0 + tl.exp(-x)), mask=offs < n)
