# A size that equals 1 is a constant of the kernel, which has no `.to`.
# expect: m is a constant
# expect: arguments that equal 1 (here m = 1
# never: spelling
# base: transpose
#-    m = tl.program_id(0) * T + tl.arange(0, T)
#+    rows = M.to(tl.int64)
#+    m = tl.program_id(0) * T + tl.arange(0, T)
#
#-    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)
#+    tl.store(out_ptr + n[None, :] * rows + m[:, None], x, mask=mask)
