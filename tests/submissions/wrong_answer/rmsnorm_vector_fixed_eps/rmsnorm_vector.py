# eps is written into the kernel as 1e-5.
# expect: eps is written into the kernel as 1e-5
# never: stride
# never: lower precision
# base: rmsnorm_vector_in_two
#-def scale_kernel(x_ptr, w_ptr, total_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
#+def scale_kernel(x_ptr, w_ptr, total_ptr, out_ptr, n, BLOCK: tl.constexpr):
#-    rms = tl.sqrt(tl.load(total_ptr) / n + eps)
#+    rms = tl.sqrt(tl.load(total_ptr) / n + 1e-5)
#-    scale_kernel[grid](x, weight, total, out, n, eps, BLOCK=1024)
#+    scale_kernel[grid](x, weight, total, out, n, BLOCK=1024)
