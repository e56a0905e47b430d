# Rows and columns both come from tl.program_id(0): only tiles of the diagonal are made.
# proved: line 13
# proved: a different axis
# never: axes are exchanged
# never: the mask of
# base: gemm
#-    rn = tl.program_id(1) * BN + tl.arange(0, BN)
#+    rn = tl.program_id(0) * BN + tl.arange(0, BN)
#-        acc += tl.dot(a, b)
#+        acc = tl.dot(a, b, acc)
