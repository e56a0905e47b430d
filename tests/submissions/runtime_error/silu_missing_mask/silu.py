# No mask: the last block reads and writes past the end.
# expect: tl.load has no mask
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    x = tl.load(x_ptr + offs)
#+    tl.store(out_ptr + offs, x * tl.sigmoid(x))
