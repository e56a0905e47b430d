# The load takes M for the row length of x, which is N.
# expect: steps by M =
# expect: a row of x has N =
# never: a mask
# base: transpose
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#+    x = tl.load(x_ptr + m[:, None] * M + n[None, :], mask=mask)
