# eps is added to the sum, before it is divided.
# expect: eps was added to the sum
# never: eps is missing
# base: rmsnorm_vector
#-    rms = tl.sqrt(total / n + eps)
#+    rms = tl.sqrt((total + eps) / n)
