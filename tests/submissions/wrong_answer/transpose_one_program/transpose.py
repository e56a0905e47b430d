# The grid has one program.
# expect: starts 1 program
# expect: triton.cdiv
# never: exchanged
# never: mask of
# base: runtime_error/transpose_mask_of_the_load
#-    tl.store(out_ptr + cols[:, None] * M + rows[None, :], tl.trans(tile), mask=mask)
#+    tl.store(out_ptr + cols[None, :] * M + rows[:, None], tile, mask=mask)
#-    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
#-    transpose_kernel[grid](x, out, M, N, BLOCK=32)
#+    transpose_kernel[(1,)](x, out, M, N, BLOCK=64)
