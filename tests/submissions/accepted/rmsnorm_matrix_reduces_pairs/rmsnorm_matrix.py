# A reduction of a function of its own, of two tensors at once: the order changes its rounding alone.
# never: order
# base: accepted/rmsnorm_matrix_gather_the_last
#-# shared: triton
#+# shared: triton
#+@triton.jit
#+def both(a, b, c, d):
#+    return a + c, b + d
#+
#+
#-    sums = tl.cumsum(x * x, axis=0)
#-    last = tl.zeros((BLOCK,), dtype=tl.int32) + BLOCK - 1
#-    total = tl.gather(sums, last, 0)
#+    total, _ = tl.reduce((x * x, x), 0, both)
