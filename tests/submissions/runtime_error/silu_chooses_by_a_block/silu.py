# `a if block else b`, of which only MLIR says what is wrong, on standard error.
# expect: must be 1-bit signless integer, but got 'tensor<
# expect: tl.where
# never: triton.cdiv
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)) if x > 0 else x * tl.exp(x) / (1.0 + tl.exp(x)), mask=offs < n)
