# The store through a block pointer checks its rows, and not its columns.
# triton: <3.9, which removed block pointers
# proved: makes every case right: a different mask
# never: has no mask
# base: accepted/transpose_block_pointers
#-    tl.store(dst, tl.load(src, boundary_check=(0, 1)), boundary_check=(0, 1))
#+    tl.store(dst, tl.load(src, boundary_check=(0, 1)), boundary_check=(0,))
