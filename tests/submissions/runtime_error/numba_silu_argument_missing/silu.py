# One argument too few.
# expect: Pass as many arguments as the kernel has
# base: accepted/numba_silu_flat
#-    silu_kernel[(n + 255) // 256, 256](x.view(-1), out.view(-1))
#+    silu_kernel[(n + 255) // 256, 256](x.view(-1))
