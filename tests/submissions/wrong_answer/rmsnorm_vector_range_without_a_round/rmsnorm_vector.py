# The bounds of the sum's loop are exchanged.
# expect: makes no round: range(n, 0, BLOCK) is empty
# expect: Count up from the smaller number
# base: rmsnorm_vector
#-    total = 0.0
#-    for start in range(0, n, BLOCK):
#+    total = 0.0
#+    for start in range(n, 0, BLOCK):
