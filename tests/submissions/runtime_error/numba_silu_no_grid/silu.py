# Launched like a function.
# expect: A kernel is launched as kernel[blocks, threads]
# base: accepted/numba_silu_flat
#-    silu_kernel[(n + 255) // 256, 256](x.view(-1), out.view(-1))
#+    silu_kernel(x.view(-1), out.view(-1))
