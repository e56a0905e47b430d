# Floor division in both directions of the grid: the right and lower edges stay empty.
# expect: covers only the first 32
# never: exchanged
# never: the mask of
# base: transpose
#-    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, T=32)
#+    transpose_kernel[(max(1, M // 16), max(1, N // 16))](x, out, M, N, T=16)
