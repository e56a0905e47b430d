# The grid leaves out the last block.
# expect: Is a size divided with //
# base: accepted/numba_silu_flat
#-    silu_kernel[(n + 255) // 256, 256](x.view(-1), out.view(-1))
#+    silu_kernel[n // 256, 256](x.view(-1), out.view(-1))
