# The row stride of the output is the size that it was tried on.
# expect: neighbours in the tile lie 64 elements apart in out
# never: a mask
# base: transpose
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    tl.store(out_ptr + n[None, :] * 64 + m[:, None], x, mask=mask)
