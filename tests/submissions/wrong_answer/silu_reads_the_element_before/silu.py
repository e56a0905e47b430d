# Each element is that of the place before.
# proved: line 11 makes every case right: something that should not be there
# never: precision
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#+    x = tl.load(x_ptr + tl.maximum(offs - 1, 0), mask=offs < n)
