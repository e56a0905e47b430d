# Divided by the number of rows.
# expect: divided by the number of rows
# base: accepted/numba_rmsnorm_matrix_parts_of_a_row
#-    scale = float32(1 / math.sqrt(total / x.shape[1] + eps))
#+    scale = float32(1 / math.sqrt(total / x.shape[0] + eps))
