# A reshape may put the squares in any order, and so it may: they are summed up.
# never: any order
# base: accepted/rmsnorm_matrix_gather_the_last
#-    sums = tl.cumsum(x * x, axis=0)
#-    last = tl.zeros((BLOCK,), dtype=tl.int32) + BLOCK - 1
#-    total = tl.gather(sums, last, 0)
#+    squares = tl.reshape(x * x, (BLOCK // 8, 8), can_reorder=True)
#+    total = tl.sum(tl.sum(squares, axis=1), axis=0)
