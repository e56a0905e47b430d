# Without an axis the squares of all rows of a tile are added.
# proved: makes every case right: a different axis
# never: stride
# base: accepted/rmsnorm_matrix_tile_of_rows
#-    mean_square = tl.sum(x * x, axis=1, keep_dims=True) / N
#+    mean_square = tl.sum(x * x) / N
