# The row stride of the output is the size that it was tried on.
# expect: steps by 64 elements
# never: a mask
# base: transpose
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    tl.store(out_ptr + n[None, :] * 64 + m[:, None], x, mask=mask)
