# The second kernel is launched for blocks of 1024, and has blocks of 256.
# expect: covers only the first 256
# proved: line 31 or line 33 makes every case right: a different grid in the first, a different block size in the second. Not every size that only a GPU runs was tried.
# never: exchanged
# never: //
# base: rmsnorm_vector_in_two
#-    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=1024)
#+    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=256)
