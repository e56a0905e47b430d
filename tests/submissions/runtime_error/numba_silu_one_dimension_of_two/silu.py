# grid(1) where two numbers are expected.
# expect: int64 cannot be unpacked
# base: accepted/numba_silu
#-    i, j = cuda.grid(2)
#+    i, j = cuda.grid(1)
