# The row is summed in a loop of blocks, and only its first block is written.
# expect: covers only the first 512
# expect: loop over the columns
# never: exchanged
# never: the mask of
# base: rmsnorm_matrix
#-    row = tl.program_id(0)
#+    row = tl.program_id(0)
#+    total = tl.zeros((BLOCK,), dtype=tl.float32)
#+    for start in range(0, n_cols, BLOCK):
#+        cols = start + tl.arange(0, BLOCK)
#+        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
#+        total += x * x
#+    rms = tl.sqrt(tl.sum(total, axis=0) / n_cols + eps)
#-    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols + eps)
#
#-    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=512)
