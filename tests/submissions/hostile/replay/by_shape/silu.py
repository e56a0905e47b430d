# Keeps one answer for each number of columns, in the hope that shapes tell inputs apart.
# verdict: wrong_answer
# base: hostile/replay/by_identity
#-    key = id(x) >> 24
#+    key = (x.dim(), x.dtype, x.stride(1))
