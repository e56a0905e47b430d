# The kernel has no tl.store, so nothing is written.
# expect: Nothing was written
# never: triton.cdiv
# base: transpose
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    tile = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#+    tl.trans(tile)
