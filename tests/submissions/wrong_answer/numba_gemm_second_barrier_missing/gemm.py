# Tiles are filled again too early.
# expect: the shared array `both`
# base: accepted/numba_gemm_dynamic_shared
#-            total += a_tile[ty * TILE + k] * b_tile[k * TILE + tx]
#-        cuda.syncthreads()
#+            total += a_tile[ty * TILE + k] * b_tile[k * TILE + tx]
