# The tiles go to their mirrored places, but each tile's own contents are not transposed.
# expect: its own elements are not transposed
# never: triton.cdiv
# never: the mask of
# base: transpose
#-    mask = (m[:, None] < M) & (n[None, :] < N)
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.0)
#+    tl.store(out_ptr + n[:, None] * M + m[None, :], x, mask=(n[:, None] < N) & (m[None, :] < M))
