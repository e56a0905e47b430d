# A row where an element is meant.
# expect: does an index lack a dimension
# base: accepted/numba_silu
#-        value = x[i, j]
#+        value = x[i]
