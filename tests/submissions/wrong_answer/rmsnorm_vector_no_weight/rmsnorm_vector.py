# The weight is left out.
# expect: the weight is missing
# never: stride
# never: lower precision
# base: rmsnorm_vector
#-def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
#+def rmsnorm_kernel(x_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
#-        w = tl.load(w_ptr + offs, mask=mask, other=0.0)
#-        tl.store(out_ptr + offs, x / rms * w, mask=mask)
#+        tl.store(out_ptr + offs, x / rms, mask=mask)
#-    rmsnorm_kernel[(1,)](x, weight, out, x.numel(), eps, BLOCK=2048)
#+    rmsnorm_kernel[(1,)](x, out, x.numel(), eps, BLOCK=2048)
