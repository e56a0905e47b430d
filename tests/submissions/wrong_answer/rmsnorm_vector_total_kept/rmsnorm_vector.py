# The total lives on from call to call, and is never set to zero again.
# expect: the second one
# expect: keep something from one call to the next
# never: factor
# base: rmsnorm_vector_in_two
#-# shared: triton
#+# shared: triton
#+TOTAL = torch.zeros(1, device="cuda")
#+
#+
#-    total = torch.zeros(1, device=x.device)
#-    grid = (triton.cdiv(n, 1024),)
#-    sum_kernel[grid](x, total, n, BLOCK=1024)
#-    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=1024)
#+    grid = (triton.cdiv(n, 1024),)
#+    sum_kernel[grid](x, TOTAL, n, BLOCK=1024)
#+    scale_kernel[grid](x, weight, TOTAL, out, n, eps, BLOCK=1024)
