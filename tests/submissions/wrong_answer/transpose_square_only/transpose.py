# Rows and columns of out are mixed up in the stride: right only where the matrix is square.
# expect: steps by N = 9 elements
# never: triton.cdiv
# never: the mask of
# base: transpose
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    target = n[None, :] * N + m[:, None]
#+    tl.store(out_ptr + target, x, mask=mask & (target < M * N))
