# Only lane 0 has the sum.
# expect: Wrong exactly in columns
# base: accepted/numba_rmsnorm_matrix_warp_a_row
#-    total = cuda.shfl_sync(0xFFFFFFFF, total, 0)
