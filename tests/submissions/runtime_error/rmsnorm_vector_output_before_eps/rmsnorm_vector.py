# The function takes out where eps is given, and eps where out is.
# expect: which takes out before eps
# expect: called as rmsnorm_vector(x, weight, eps, out)
# never: a pointer and a float
# base: rmsnorm_vector
#-def rmsnorm_vector(x, weight, eps, out):
#+def rmsnorm_vector(x, weight, out, eps=1e-5):
