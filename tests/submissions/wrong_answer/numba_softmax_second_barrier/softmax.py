# The maximum is overwritten while others read it.
# expect: the shared array `held`
# base: accepted/numba_softmax_block_a_row
#-    top = held[0]
#-    cuda.syncthreads()
#+    top = held[0]
