# The grid has rows first, the kernel reads program_id(0) as the column.
# proved: lines 10 and 11 together makes every case right: a different axis
# never: the mask of
# base: transpose
#-    m = tl.program_id(0) * T + tl.arange(0, T)
#-    n = tl.program_id(1) * T + tl.arange(0, T)
#+    m = tl.program_id(1) * T + tl.arange(0, T)
#+    n = tl.program_id(0) * T + tl.arange(0, T)
