# Each program does four tiles in a loop that is unrolled, and the next one begins a single tile further on.
# expect: goes over 1,024 elements of out in 4 rounds
# expect: begins 256 further on
# never: covers only the first
# base: wrong_answer/vector_copy_unrolled_grid
#-    begin = tl.program_id(0) * TILE * 4
#+    begin = tl.program_id(0) * TILE
#
#-    copy_kernel[(triton.cdiv(n, 2048),)](x, out, n, TILE=256)
#+    copy_kernel[(triton.cdiv(n, 1024),)](x, out, n, TILE=256)
