# The mask leaves out the first element.
# proved: line 10 makes every case right: a different mask
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#+    x = tl.load(x_ptr + offs, mask=(offs > 0) & (offs < n), other=0.0)
