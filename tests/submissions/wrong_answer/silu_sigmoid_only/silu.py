# The sigmoid alone: the factor x is missing.
# expect: σ(x) alone
# never: triton.cdiv
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, 1.0 / (1.0 + tl.exp(-x)), mask=offs < n)
