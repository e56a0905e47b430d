# The accumulator is rounded to fp16 after every block of K.
# expect: were kept in fp16
# never: stride
# base: gemm
#-    acc = tl.zeros((BM, BN), dtype=tl.float32)
#+    acc = tl.zeros((BM, BN), dtype=tl.float16)
#-        acc += tl.dot(a, b)
#-    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))
#+        acc = (acc + tl.dot(a, b)).to(tl.float16)
#+    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
