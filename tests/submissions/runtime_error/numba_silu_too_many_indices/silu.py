# Two indices into a vector.
# expect: float32[:] takes no index (int64, int)
# base: accepted/numba_silu_flat
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        out[i] = x[i, 0] / (float32(1) + math.exp(-x[i]))
