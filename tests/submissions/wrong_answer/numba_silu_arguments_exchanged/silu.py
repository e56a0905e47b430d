# The output is read, the input written.
# expect: out arrives full of NaN
# base: accepted/numba_silu_flat
#-    silu_kernel[(n + 255) // 256, 256](x.view(-1), out.view(-1))
#+    silu_kernel[(n + 255) // 256, 256](out.view(-1), x.view(-1))
