# Elements counted as bytes.
# expect: the bytes in the launch's fourth value
# base: accepted/numba_gemm_dynamic_shared
#-    gemm_kernel[blocks, (TILE, TILE), 0, 2 * TILE * TILE * 4](a, b, out)
#+    gemm_kernel[blocks, (TILE, TILE), 0, 2 * TILE * TILE](a, b, out)
