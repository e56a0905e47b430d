# Threads first, then blocks.
# expect: Launch fewer threads in a block
# base: accepted/numba_silu_flat
#-    silu_kernel[(n + 255) // 256, 256](x.view(-1), out.view(-1))
#+    silu_kernel[256, (n + 255) // 256](x.view(-1), out.view(-1))
