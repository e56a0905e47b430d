# The function has another name than the assignment asks for.
# expect: transpose
# base: transpose
#-def transpose(x, out):
#+def matrix_transpose(x, out):
