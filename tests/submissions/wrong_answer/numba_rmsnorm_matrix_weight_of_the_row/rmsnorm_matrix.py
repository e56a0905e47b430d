# The weight of the row.
# expect: The weight was indexed by row
# base: accepted/numba_rmsnorm_matrix_parts_of_a_row
#-        out[i, j] = x[i, j] * scale * weight[j]
#+        out[i, j] = x[i, j] * scale * weight[i % weight.shape[0]]
