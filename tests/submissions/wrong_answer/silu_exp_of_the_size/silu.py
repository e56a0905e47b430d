# The exponent has no sign, as if it were symmetric.
# expect: the right answer to x without its sign
# never: precision
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, tl.abs(x) / (1.0 + tl.exp(-tl.abs(x))), mask=offs < n)
