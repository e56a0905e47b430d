# ReLU by mistake.
# expect: the ReLU
# never: triton.cdiv
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, tl.maximum(x, 0.0), mask=offs < n)
