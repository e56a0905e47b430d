# The tree has no barrier.
# expect: Call cuda.syncthreads() between the store and the load
# base: accepted/numba_rmsnorm_vector_one_block
#-        cuda.syncthreads()
