# The array has fewer elements than threads.
# expect: the shared array `sums`, which has
# base: accepted/numba_rmsnorm_vector_one_block
#-    sums = cuda.shared.array(1024, float32)
#+    sums = cuda.shared.array(512, float32)
