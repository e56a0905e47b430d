# The function that launches is decorated as its kernel is.
# expect: rmsnorm_matrix(x, weight, eps, out) is called as an ordinary function
# expect: take @triton.jit off it
# never: square brackets
# base: rmsnorm_matrix
#-def rmsnorm_matrix(x, weight, eps, out):
#+@triton.jit
#+def rmsnorm_matrix(x, weight, eps, out):
