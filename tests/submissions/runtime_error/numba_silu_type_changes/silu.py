# A text becomes a number.
# expect: one is int in one place and str in another
# base: accepted/numba_silu_flat
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        one = 'one'
#+        if x[i] > 0:
#+            one = 1
#+        out[i] = x[i] / (one + math.exp(-x[i]))
