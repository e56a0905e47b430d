# The mask leaves out the first element.
# expect: exactly in the first element
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#+    x = tl.load(x_ptr + offs, mask=(offs > 0) & (offs < n), other=0.0)
