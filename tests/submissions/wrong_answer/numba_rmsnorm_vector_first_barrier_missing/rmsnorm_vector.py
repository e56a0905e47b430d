# No barrier before the tree.
# expect: the shared array `sums`
# base: accepted/numba_rmsnorm_vector_one_block
#-    cuda.syncthreads()
