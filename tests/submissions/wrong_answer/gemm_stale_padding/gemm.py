# No mask along K: past the end of a row of a comes the next row, not zero (b is masked against K too late).
# proved: lines 19 and 20 together
# proved: line 20
# never: written into the kernel
# never: stride
# base: gemm
#-        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
#-        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
#-        acc += tl.dot(a, b)
#+        a_offs = rm[:, None] * K + rk[None, :]
#+        b_offs = rk[:, None] * N + rn[None, :]
#+        a = tl.load(a_ptr + a_offs, mask=a_offs < M * K, other=1.0)
#+        b = tl.load(b_ptr + b_offs, mask=b_offs < K * N, other=1.0)
#+        acc = tl.dot(a, b, acc)
