# The store is masked by flat position only, so rows past the last one land in the next column of tiles.
# proved: lines 15 and 16 together
# proved: line 16
# never: triton.cdiv
# base: transpose
#-    mask = (m[:, None] < M) & (n[None, :] < N)
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    source = m[:, None] * N + n[None, :]
#+    target = n[None, :] * M + m[:, None]
#+    x = tl.load(x_ptr + source, mask=source < M * N, other=0.0)
#+    tl.store(out_ptr + target, x, mask=target < M * N)
