# x is not multiplied in.
# expect: SiLU multiplies it by x
# base: accepted/numba_silu_flat
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        out[i] = 1 / (float32(1) + math.exp(-x[i]))
