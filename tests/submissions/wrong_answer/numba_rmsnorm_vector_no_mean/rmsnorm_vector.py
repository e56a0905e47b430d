# The sum in place of the mean.
# expect: was used for their mean
# base: accepted/numba_rmsnorm_vector_one_block
#-    scale = float32(1 / math.sqrt(sums[0] / x.shape[0] + eps))
#+    scale = float32(1 / math.sqrt(sums[0] + eps))
