# Without the maximum exp overflows.
# expect: exp overflows where
# base: accepted/numba_softmax_block_a_row
#-            held[t] = max(held[t], held[t + step])
#+            held[t] = min(held[t], held[t + step])
