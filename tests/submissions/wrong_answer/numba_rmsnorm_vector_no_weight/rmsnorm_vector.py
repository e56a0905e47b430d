# The weights are left out.
# expect: The weight is missing
# base: accepted/numba_rmsnorm_vector_one_block
#-        out[i] = x[i] * scale * weight[i]
#+        out[i] = x[i] * scale
