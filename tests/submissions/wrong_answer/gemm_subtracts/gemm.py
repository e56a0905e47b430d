# Products are subtracted from the accumulator.
# proved: line 16 makes every case right: a different operator
# base: gemm
#-        acc += tl.dot(a, b)
#+        acc -= tl.dot(a, b)
