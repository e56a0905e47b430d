# Sums are set to zero for a program's first tile alone.
# proved: makes every case right: something that is missing there
# never: stride
# base: accepted/gemm_persistent
#-    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
#+    acc = tl.zeros((BM, BN), dtype=tl.float32)
#+    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
#
#-        acc = tl.zeros((BM, BN), dtype=tl.float32)
