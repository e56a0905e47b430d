# A list is passed to the kernel.
# expect: is given a dict
# base: accepted/numba_silu_tuple
#-    silu_kernel[(x.numel() + 255) // 256, 256](x, out, tuple(x.shape), np.float32(1), True)
#+    silu_kernel[(x.numel() + 255) // 256, 256](x, out, {"rows": x.shape[0]}, np.float32(1), True)
