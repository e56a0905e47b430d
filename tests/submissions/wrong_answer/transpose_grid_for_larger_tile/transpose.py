# The grid is counted in tiles of 64, the kernel works on tiles of 32.
# expect: covers only the first 32
# proved: in line 24, or
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
