# The tile is transposed, and the mask of the store is still that of the load.
# expect: the store in line
# proved: line 17 makes every case right: a different mask
# never: see tl.trans
# never: not transposed. tl.trans
# base: runtime_error/transpose_mask_of_the_load
#-    tl.store(out_ptr + cols[:, None] * M + rows[None, :], tl.trans(tile), mask=mask)
#+    out_offsets = cols[:, None] * M + rows[None, :]
#+    tl.store(out_ptr + out_offsets, tl.trans(tile), mask=mask & (out_offsets < M * N))
