# The grid has a single program, whatever the size.
# expect: starts 1 program
# expect: covers only the first 256
# never: exchanged
# never: the mask of
# never: depend
# base: silu
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    tl.store(out_ptr + offs, x / (1 + tl.exp(-x)), mask=offs < n)
#-    n = x.numel()
#-    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
#+    silu_kernel[(1,)](x, out, x.numel(), BLOCK=256)
