# Nothing keeps the last block inside.
# expect: The last block has threads past the end
# base: accepted/numba_silu_flat
#-    if i < x.size:
#-        out[i] = x[i] / (float32(1) + math.exp(-x[i]))
#+    out[i] = x[i] / (float32(1) + math.exp(-x[i]))
