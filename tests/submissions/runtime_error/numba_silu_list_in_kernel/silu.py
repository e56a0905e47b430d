# A list in a kernel.
# expect: has no attribute append
# base: accepted/numba_silu_flat
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+        parts = [x[i], float32(1)]
#+        parts.append(x[i])
#+        out[i] = parts[0] / (parts[1] + math.exp(-parts[2]))
