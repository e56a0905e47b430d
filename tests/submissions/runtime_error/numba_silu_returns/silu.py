# The kernel returns a value.
# expect: A kernel returns nothing
# base: accepted/numba_silu_flat
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        return x[i] / (float32(1) + math.exp(-x[i]))
