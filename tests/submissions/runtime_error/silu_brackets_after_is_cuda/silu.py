# is_cuda is no function.
# expect: x.is_cuda and x.T stand without
# never: print the shapes
# base: silu
#-    n = x.numel()
#+    assert x.is_cuda()
#+    n = x.numel()
