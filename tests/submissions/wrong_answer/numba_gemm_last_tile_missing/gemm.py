# The end of K is missing.
# expect: The end of K is missing
# base: accepted/numba_gemm_dynamic_shared
#-    for first in range(0, a.shape[1], TILE):
#+    for first in range(0, a.shape[1] - TILE + 1, TILE):
