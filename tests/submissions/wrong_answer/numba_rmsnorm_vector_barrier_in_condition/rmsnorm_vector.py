# The barrier stands in the condition.
# expect: take it out of the `if` or the loop
# base: accepted/numba_rmsnorm_vector_one_block
#-        cuda.syncthreads()
#+            cuda.syncthreads()
