# math has no sigmoid.
# expect: math.sigmoid is none of the functions
# base: accepted/numba_silu_flat
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        out[i] = x[i] * math.sigmoid(x[i])
