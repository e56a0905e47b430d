# Bounds by flat position alone: past the last column lies past the end of out, past the last row past that of x.
# base: transpose
#-    mask = (m[:, None] < M) & (n[None, :] < N)
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    source = m[:, None] * N + n[None, :]
#+    target = n[None, :] * M + m[:, None]
#+    inside = (source < M * N) & (target < M * N)
#+    tl.store(out_ptr + target, tl.load(x_ptr + source, mask=inside), mask=inside)
