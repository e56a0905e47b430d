# Each element is that of the place before.
# proved: delete a part of line 11
# never: precision
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#+    x = tl.load(x_ptr + tl.maximum(offs - 1, 0), mask=offs < n)
