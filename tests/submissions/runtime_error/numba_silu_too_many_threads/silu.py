# A block of 2048 threads.
# expect: Launch fewer threads in a block
# base: accepted/numba_silu_flat
#-    silu_kernel[(n + 255) // 256, 256](x.view(-1), out.view(-1))
#+    silu_kernel[(n + 2047) // 2048, 2048](x.view(-1), out.view(-1))
