# The function takes out first, which is given x.
# expect: gives out for the kernel's `x_ptr`
# expect: the parameters of the function
# never: left as they are
# base: transpose
#-def transpose(x, out):
#+def transpose(out, x):
