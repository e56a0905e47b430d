# The grid has rows first, the kernel reads program_id(0) as the column.
# proved: line 10 or line 19 makes every case right
# never: the mask of
# base: transpose
#-    m = tl.program_id(0) * T + tl.arange(0, T)
#-    n = tl.program_id(1) * T + tl.arange(0, T)
#+    m = tl.program_id(1) * T + tl.arange(0, T)
#+    n = tl.program_id(0) * T + tl.arange(0, T)
