# The sign is changed.
# proved: line 12 makes every case right: a different operator
# base: transpose
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#+    x = -tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
