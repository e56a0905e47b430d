# The loop over K ends one step early.
# expect: end of K is missing
# never: stride
# never: 65,504
# base: gemm
#-    for k0 in range(0, K, BK):
#-        rk = k0 + tl.arange(0, BK)
#+    for step in range(tl.cdiv(K, BK) - 1):
#+        rk = step * BK + tl.arange(0, BK)
