# A name that does not exist.
# expect: name 'X' is not defined
# base: accepted/numba_silu_flat
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        out[i] = x[i] / (float32(1) + math.exp(-X[i]))
