# The number of the block is missing a factor.
# expect: What is cuda.blockIdx.x multiplied by
# base: accepted/numba_silu_flat
#-    i = cuda.grid(1)
#+    i = cuda.blockIdx.x + cuda.threadIdx.x
