# x / 1 + exp(-x): brackets are missing.
# expect: brackets are missing
# never: overflows
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x / 1.0 + tl.exp(-x), mask=offs < n)
