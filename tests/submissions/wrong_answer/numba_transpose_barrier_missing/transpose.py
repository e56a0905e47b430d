# No barrier between store and load.
# expect: the shared array `tile`
# base: accepted/numba_transpose_tile
#-    cuda.syncthreads()
