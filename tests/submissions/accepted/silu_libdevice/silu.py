# exp and division through libdevice.
# base: silu
#-# shared: triton
#+import triton
#+import triton.language as tl
#+from triton.language.extra import libdevice
#+
#+
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    mask = offs < n
#+    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
#+    denominator = 1.0 + libdevice.exp(-x)
#+    tl.store(out_ptr + offs, libdevice.div_rn(x, denominator), mask=mask)
