# The kernel is chosen and never launched: the last brackets are missing.
# expect: No kernel was launched
# never: triton.cdiv
# base: wrong_answer/silu_empty_grid
#-    kernel[(x.numel() // 1048576 // 1048576,)](x, out, x.numel(), BLOCK=1024)
#+    kernel[(triton.cdiv(x.numel(), 1024),)]
