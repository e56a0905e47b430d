# The accumulator begins at 1.
# proved: line 12
# proved: a different initial value
# base: gemm
#-    acc = tl.zeros((BM, BN), dtype=tl.float32)
#+    acc = tl.full((BM, BN), 1.0, dtype=tl.float32)
