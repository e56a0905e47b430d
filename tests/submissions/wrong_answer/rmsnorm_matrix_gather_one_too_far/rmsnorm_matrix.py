# The last of the sums so far is asked for at an index one beyond the block.
# expect: An index of the tl.gather in line 14 lies outside
# base: accepted/rmsnorm_matrix_gather_the_last
#-    last = tl.zeros((BLOCK,), dtype=tl.int32) + BLOCK - 1
#+    last = tl.zeros((BLOCK,), dtype=tl.int32) + BLOCK
