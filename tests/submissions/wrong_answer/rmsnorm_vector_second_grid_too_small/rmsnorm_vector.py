# The second kernel is launched for blocks of 1024, and has blocks of 256.
# expect: each has 256 of
# expect: the block that the grid is counted with must be the kernel's
# never: exchanged
# never: //
# base: rmsnorm_vector_in_two
#-    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=1024)
#+    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=256)
