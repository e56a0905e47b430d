# The tile is transposed by tl.trans and once more by the offsets of the store.
# expect: exactly one of them is needed
# never: triton.cdiv
# never: see tl.trans
# base: runtime_error/transpose_mask_of_the_load
#-    tl.store(out_ptr + cols[:, None] * M + rows[None, :], tl.trans(tile), mask=mask)
#+    tl.store(out_ptr + cols[None, :] * M + rows[:, None], tl.trans(tile), mask=mask)
#-    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
#-    transpose_kernel[grid](x, out, M, N, BLOCK=32)
#+    transpose_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, out, M, N, BLOCK=16)
