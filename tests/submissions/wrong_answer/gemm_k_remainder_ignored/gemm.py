# The loop runs K // BK times: the last, incomplete block of K is left out.
# expect: end of K is missing
# never: stride
# never: 65,504
# base: gemm
#-    for k0 in range(0, K, BK):
#-        rk = k0 + tl.arange(0, BK)
#-        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
#-        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
#-        acc += tl.dot(a, b)
#+    for k in range(K // BK):
#+        rk = k * BK + tl.arange(0, BK)
#+        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
#+        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0)
#+        acc = tl.dot(a, b, acc)
