# 1 // 2 is 0.
# expect: Every element is 0
# base: accepted/numba_gelu_tanh
#-        out[i] = float32(0.5) * v * (float32(1) + math.tanh(inner))
#+        out[i] = 1 // 2 * v * (float32(1) + math.tanh(inner))
