# The result is stored transposed.
# expect: stored transposed
# never: a was read
# never: b was read
# base: gemm
#-        acc += tl.dot(a, b)
#-    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))
#+        acc = tl.dot(a, b, acc)
#+    tl.store(c_ptr + rn[None, :] * M + rm[:, None], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))
#-    gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, out, M, N, K, BM=32, BN=32, BK=32)
#+    gemm_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](a, b, out, M, N, K, BM=64, BN=64, BK=32)
