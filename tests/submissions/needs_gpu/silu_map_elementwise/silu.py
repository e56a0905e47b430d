# A function for each element, which the simulator does not know.
# expect: cannot simulate `tt.map_elementwise of Triton 3.
# on a gpu: accepted; there it runs
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
