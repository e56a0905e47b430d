# x is rounded to bfloat16 as soon as it is loaded.
# proved: line 10 makes every case right: a different type
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#+    x = tl.load(x_ptr + offs, mask=offs < n).to(tl.bfloat16).to(tl.float32)
