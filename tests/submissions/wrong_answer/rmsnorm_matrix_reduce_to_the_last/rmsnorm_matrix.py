# A reduction that keeps its second argument is to give the last element: which one comes last is not promised.
# expect: The answer depends on the order in which the reduction or scan in line 17
# base: accepted/rmsnorm_matrix_gather_the_last
#-# shared: triton
#+# shared: triton
#+@triton.jit
#+def second(a, b):
#+    return b
#+
#+
#-    sums = tl.cumsum(x * x, axis=0)
#-    last = tl.zeros((BLOCK,), dtype=tl.int32) + BLOCK - 1
#-    total = tl.gather(sums, last, 0)
#+    total = tl.reduce(tl.cumsum(x * x, axis=0), 0, second)
