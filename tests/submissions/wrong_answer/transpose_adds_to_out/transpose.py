# The tile is added to what out holds.
# expect: takes in what out holds, which arrives full of NaN
# never: division by zero
# base: wrong_answer/transpose_through_half
#-    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask).to(tl.float16)
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
#+    tl.atomic_add(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
