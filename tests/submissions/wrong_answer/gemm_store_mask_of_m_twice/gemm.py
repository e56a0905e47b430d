# The mask of the store compares columns with M.
# expect: the mask of the store
# proved: line 20 makes every case right: a different variable
# never: triton.cdiv
# never: exchanged
# base: gemm
#-        acc += tl.dot(a, b)
#-    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))
#+        acc = tl.dot(a, b, acc)
#+    mask = (rm[:, None] < M) & (rn[None, :] < M) & (rn[None, :] < N)
#+    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=mask)
