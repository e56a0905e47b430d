# The grid is n // BLOCK: the last, incomplete block is never done.
# expect: covers only the first 8,448
# never: exchanged
# never: the mask of
# base: silu
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    mask = offs < n
#+    x = tl.load(x_ptr + offs, mask=mask)
#+    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=mask)
#-    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
#+    silu_kernel[(max(1, n // 256),)](x, out, n, BLOCK=256)
