# The total begins with anything.
# expect: set it with `array[:] = 0`
# base: accepted/numba_rmsnorm_vector_atomic
#-    total[:] = 0
