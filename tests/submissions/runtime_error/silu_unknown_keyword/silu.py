# A misspelt keyword at the launch.
# expect: no parameter BLOK
# base: silu
#-def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
#+def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr = 1024):
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)
#-    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
#+    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOK=1024)
