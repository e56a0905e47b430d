# The grid is counted in tiles of 64, the kernel works on tiles of 32.
# expect: each has 32 of
# expect: the block that the grid is counted with must be the kernel's
# never: exchanged
# never: //
# base: runtime_error/transpose_mask_of_the_load
#-# shared: triton
#+# shared: triton
#+BLOCK_SIZE = 64
#+
#+
#-    tl.store(out_ptr + cols[:, None] * M + rows[None, :], tl.trans(tile), mask=mask)
#+    tl.store(out_ptr + cols[None, :] * M + rows[:, None], tile, mask=mask)
#-    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
#+    grid = (triton.cdiv(M, BLOCK_SIZE), triton.cdiv(N, BLOCK_SIZE))
