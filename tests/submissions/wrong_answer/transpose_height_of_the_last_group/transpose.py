# The last group of tiles is taken for a whole one, though fewer rows of tiles are left.
# proved: makes every case right: a last group of tiles that is cut to the rows
# never: triton.cdiv
# base: accepted/transpose_swizzled
#-    tm, tn = tl.swizzle2d(pid // tiles_n, pid % tiles_n, tiles_m, tiles_n, GROUP)
#+    first = pid // (GROUP * tiles_n) * GROUP
#+    height = GROUP
#+    tm = first + pid % (GROUP * tiles_n) % height
#+    tn = pid % (GROUP * tiles_n) // height
#
#-    out.zero_()
