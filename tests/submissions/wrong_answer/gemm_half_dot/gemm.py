# tl.dot is asked for an fp16 result, and the sum is kept in fp16.
# expect: were kept in fp16
# never: stride
# base: gemm
#-    acc = tl.zeros((BM, BN), dtype=tl.float32)
#+    acc = tl.zeros((BM, BN), dtype=tl.float16)
#-        acc += tl.dot(a, b)
#-    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))
#+        acc += tl.dot(a, b, out_dtype=tl.float16)
#+    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
#-    gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, out, M, N, K, BM=32, BN=32, BK=32)
#+    gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, out, M, N, K, BM=32, BN=32, BK=16)
