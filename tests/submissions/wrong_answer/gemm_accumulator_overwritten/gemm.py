# acc = tl.dot(...) rather than +=: only the last block of K counts.
# expect: only the last block of K remains
# never: stride
# never: 65,504
# base: gemm
#-        acc += tl.dot(a, b)
#+        acc = tl.dot(a, b)
