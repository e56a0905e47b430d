# The function takes out first, which is given x.
# proved: line 19
# proved: two names exchanged
# never: left as they are
# base: transpose
#-def transpose(x, out):
#+def transpose(out, x):
