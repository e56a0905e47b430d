# The accumulator begins at 1.
# expect: 1 too large
# expect: at what it starts from
# base: gemm
#-    acc = tl.zeros((BM, BN), dtype=tl.float32)
#+    acc = tl.full((BM, BN), 1.0, dtype=tl.float32)
