# The answer is right, but the sigmoid is left in x, which the caller still needs.
# expect: x changed during the call: the store in line 15 writes to x
# expect: inputs must not be changed
# never: triton.cdiv
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    mask = offs < n
#+    x = tl.load(x_ptr + offs, mask=mask)
#+    s = tl.sigmoid(x)
#+    tl.store(x_ptr + offs, s, mask=mask)
#+    tl.store(out_ptr + offs, x * s, mask=mask)
