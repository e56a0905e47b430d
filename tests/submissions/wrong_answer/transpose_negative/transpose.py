# The sign is changed.
# expect: with the other sign
# base: transpose
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#+    x = -tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
