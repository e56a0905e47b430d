# One element too many.
# expect: One element too far
# base: accepted/numba_silu_flat
#-    if i < x.size:
#+    if i <= x.size:
