# An attribute that arrays in kernels lack.
# expect: float32[:] has no attribute numel
# base: accepted/numba_silu_flat
#-    if i < x.size:
#+    if i < x.numel():
