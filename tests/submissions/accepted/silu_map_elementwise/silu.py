# A function for each element.
# base: silu
#-# shared: triton
#+# shared: triton
#+@triton.jit
#+def one(x):
#+    return x / (1 + tl.exp(-x))
#+
#+
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, tl.map_elementwise(one, x), mask=offs < n)
