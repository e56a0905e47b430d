# The pointer to x is cast to one of doubles.
# expect: casts the pointer to x (`x_ptr` in the kernel), of f32, to one to f64
# never: does the mask
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#+    x = tl.load(x_ptr.to(tl.pointer_type(tl.float64)) + offs, mask=offs < n).to(tl.float32)
