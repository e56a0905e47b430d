# Counted for 512 threads, launched with 256.
# expect: covers only the first
# base: accepted/numba_silu_flat
#-    silu_kernel[(n + 255) // 256, 256](x.view(-1), out.view(-1))
#+    silu_kernel[(n + 511) // 512, 256](x.view(-1), out.view(-1))
