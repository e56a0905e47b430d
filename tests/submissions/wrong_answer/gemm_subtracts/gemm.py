# Products are subtracted from the accumulator.
# expect: with the other sign
# base: gemm
#-        acc += tl.dot(a, b)
#+        acc -= tl.dot(a, b)
