# exp(x) where exp(-x) is meant: x * sigmoid(-x).
# expect: sign in exp
# never: triton.cdiv
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x / (1.0 + tl.exp(x)), mask=offs < n)
