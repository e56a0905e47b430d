# The second kernel is launched for blocks of 1024, and has blocks of 256.
# expect: covers only the first 256
# proved: a different grid in line 31, or a different block size in line 33. Not all large sizes were tried here.
# never: exchanged
# never: //
# base: rmsnorm_vector_in_two
#-    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=1024)
#+    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=256)
