# A quotient of floats as a grid.
# expect: divide with //, not with /
# base: accepted/numba_silu_flat
#-    silu_kernel[(n + 255) // 256, 256](x.view(-1), out.view(-1))
#+    silu_kernel[math.ceil(n / 256) * 1.0, 256](x.view(-1), out.view(-1))
