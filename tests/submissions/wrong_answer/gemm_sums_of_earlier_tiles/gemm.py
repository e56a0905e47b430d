# Sums are set to zero for a program's first tile alone, which shows where a GPU's multiprocessors are fewer than tiles.
# proved: A statement is missing before line 16: with it, every case is right
# never: stride
# base: accepted/gemm_persistent
#-RESIDENT = 24
#+RESIDENT = 132
#
#-    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
#+    acc = tl.zeros((BM, BN), dtype=tl.float32)
#+    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
#
#-        acc = tl.zeros((BM, BN), dtype=tl.float32)
