# The store uses the input's row length as the output's: right for square matrices alone.
# expect: the store in line 15 reaches
# expect: steps by N = 9 elements; a row of out has M = 5
# never: a mask
# base: transpose
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    tl.store(out_ptr + n[None, :] * N + m[:, None], x, mask=mask)
