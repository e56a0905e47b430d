# The sum is of x, not of its squares.
# expect: the sum is of x itself
# never: stride
# never: lower precision
# base: rmsnorm_vector
#-        total += tl.sum(x * x, axis=0)
#-    rms = tl.sqrt(total / n + eps)
#+        total += tl.sum(x, axis=0)
#+    mean = total / n
#+    rms = tl.sqrt(mean * mean + eps)
