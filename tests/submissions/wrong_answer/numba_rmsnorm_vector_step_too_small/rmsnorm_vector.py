# The tree begins too low.
# expect: sum
# base: accepted/numba_rmsnorm_vector_one_block
#-    half = 512
#+    half = 256
