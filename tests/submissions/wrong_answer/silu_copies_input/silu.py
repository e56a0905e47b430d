# Copies x to out: the formula was never filled in.
# expect: is x itself
# never: triton.cdiv
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x, mask=offs < n)
