# The store of the last tile has no mask.
# expect: tl.store has no mask
# expect: compares the index of the row with M, and that of the column with N
# never: stride
# never: too far
# base: gemm
#-        acc += tl.dot(a, b)
#-    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))
#+        acc = tl.dot(a, b, acc)
#+    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16))
