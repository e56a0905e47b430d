# Strides of 64 in both matrices, from the size it was tried on.
# expect: steps by 64 elements
# never: tl.atomic_add
# base: transpose
#-    n = tl.program_id(1) * T + tl.arange(0, T)
#-    mask = (m[:, None] < M) & (n[None, :] < N)
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    n = tl.program_id(1) * T + tl.arange(0, T)
#+    size = M * N
#+    mask = (m[:, None] < M) & (n[None, :] < N)
#+    x = tl.load(x_ptr + (m[:, None] * 64 + n[None, :]) % size, mask=mask)
#+    tl.store(out_ptr + (n[None, :] * 64 + m[:, None]) % size, x, mask=mask)
