# The element stays where it is.
# expect: This is x itself
# base: accepted/numba_transpose_element
#-        out[j, i] = x[i, j]
#+        out[i % out.shape[0], j % out.shape[1]] = x[i, j]
