# The launch gives no bytes.
# expect: The launch gives no bytes for it
# base: accepted/numba_gemm_dynamic_shared
#-    gemm_kernel[blocks, (TILE, TILE), 0, 2 * TILE * TILE * 4](a, b, out)
#+    gemm_kernel[blocks, (TILE, TILE)](a, b, out)
