# A name in the kernel that is defined nowhere.
# expect: misspelt
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    x = tl.load(x_pointer + offs, mask=offs < n)
#+    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=offs < n)
