# The total begins at 1.
# expect: The sum of the squares is 1 too large
# base: rmsnorm_vector
#-    total = 0.0
#+    total = 1.0
