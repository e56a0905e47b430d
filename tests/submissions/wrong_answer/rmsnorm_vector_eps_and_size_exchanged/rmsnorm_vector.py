# The launch exchanges n and eps.
# expect: covers only the first
# never: programs along
# base: rmsnorm_vector_in_two
#-    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=1024)
#+    scale_kernel[grid](x, weight, total, out, eps, n, BLOCK=1024)
