# The result is converted to an integer on the way.
# expect: without its fraction
# expect: converted to an integer
# never: precision
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, (x / (1.0 + tl.exp(-x))).to(tl.int32), mask=offs < n)
