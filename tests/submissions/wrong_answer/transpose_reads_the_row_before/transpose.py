# Rows of x are one off.
# proved: delete a part of line 13
# never: precision
# base: transpose
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#+    x = tl.load(x_ptr + m[:, None] * N + tl.maximum(n - 1, 0)[None, :], mask=mask)
