# A shape that is no constant.
# expect: The sizes of shared and local arrays are constants
# base: accepted/numba_transpose_tile
#-    tile = cuda.shared.array((TILE, TILE), dtype=float32)
#+    tile = cuda.shared.array((cuda.blockDim.x, TILE), dtype=float32)
