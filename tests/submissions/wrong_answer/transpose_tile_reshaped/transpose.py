# A reshaped tile keeps the order of its elements: it is not transposed.
# proved: makes every case right: a different function
# never: triton.cdiv
# base: accepted/transpose_tiles
#-    cols = tl.program_id(1) * TILE + tl.arange(0, TILE)
#+    cols = tl.program_id(1) * 2 * TILE + tl.arange(0, 2 * TILE)
#
#-    tile = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=(rows[:, None] < M) & (cols[None, :] < N))
#+    inside = (rows[:, None] < M) & (cols[None, :] < N)
#+    tile = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=inside)
#
#-        tl.trans(tile),
#+        tile.reshape(2 * TILE, TILE),
#
#-    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, TILE=32)
#+    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 64))](x, out, M, N, TILE=32)
