# Blocks add without an atomic.
# expect: cuda.atomic.add
# base: accepted/numba_rmsnorm_vector_atomic
#-        cuda.atomic.add(total, 0, part[0])
#+        total[0] += part[0]
