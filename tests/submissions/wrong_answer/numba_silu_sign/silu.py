# The sign of the exponent.
# expect: look at the sign in exp
# base: accepted/numba_silu_flat
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        out[i] = x[i] / (float32(1) + math.exp(x[i]))
