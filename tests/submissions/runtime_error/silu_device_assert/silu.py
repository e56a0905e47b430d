# A device_assert that does not hold.
# expect: kernel checks this
# base: silu
#-@triton.jit
#+@triton.jit(debug=True)
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
#+    tl.device_assert(tl.abs(x) < 1e-6, "x is too large")
#+    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)
