# The function takes out first, which is given x.
# proved: lines 19 and 20 together
# proved: two names exchanged
# never: left as they are
# base: transpose
#-def transpose(x, out):
#+def transpose(out, x):
