# x * exp(x) / (1 + exp(x)): infinity over infinity is NaN for large x.
# expect: exp overflows
# never: triton.cdiv
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
#+    e = tl.exp(x)
#+    tl.store(out_ptr + offs, x * e / (1.0 + e), mask=offs < n)
