# The answer goes to an array of its own.
# expect: what cuda.device_array gives is another array
# base: accepted/numba_silu_flat
#-    silu_kernel[(n + 255) // 256, 256](x.view(-1), out.view(-1))
#+    answer = cuda.device_array(n, float32)
#+    silu_kernel[(n + 255) // 256, 256](x.view(-1), answer)
