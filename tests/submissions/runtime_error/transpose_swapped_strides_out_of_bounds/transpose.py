# Reads with the strides of out: beyond the end as soon as the matrix is not square.
# expect: steps by N = 9 elements
# never: a mask
# base: transpose
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    x = tl.load(x_ptr + m[:, None] * M + n[None, :], mask=mask)
#+    tl.store(out_ptr + n[None, :] * N + m[:, None], x, mask=mask)
