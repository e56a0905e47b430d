# The row within the block is forgotten.
# expect: of 32 x 4 threads each
# base: accepted/numba_rmsnorm_matrix_warp_a_row
#-    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
#+    row = cuda.blockIdx.x
