# The function takes out first, which is given x.
# expect: which takes out before x
# expect: called as transpose(x, out)
# never: wrong pointer
# never: two names exchanged
# base: transpose
#-def transpose(x, out):
#+def transpose(out, x):
