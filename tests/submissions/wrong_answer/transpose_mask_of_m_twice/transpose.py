# The mask compares rows and columns with M.
# expect: the mask of the store
# proved: line 14 makes every case right: a different variable
# never: triton.cdiv
# never: exchanged
# base: wrong_answer/transpose_through_half
#-    mask = (m[:, None] < M) & (n[None, :] < N)
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask).to(tl.float16)
#+    mask = (m[:, None] < M) & (n[None, :] < M) & (m[:, None] * N + n[None, :] < M * N) & (n[None, :] * M < M * N)
#+    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
