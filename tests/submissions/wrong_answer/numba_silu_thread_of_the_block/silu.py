# The index within the block alone.
# expect: covers only the first
# base: accepted/numba_silu_flat
#-    i = cuda.grid(1)
#+    i = cuda.threadIdx.x
