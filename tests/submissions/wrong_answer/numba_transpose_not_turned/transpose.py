# The tile is not turned.
# expect: that nothing has written
# base: accepted/numba_transpose_tile
#-        out[i, j] = tile[tx, ty]
#+        out[i, j] = tile[ty, tx]
