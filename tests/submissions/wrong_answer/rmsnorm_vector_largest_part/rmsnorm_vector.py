# atomic_max in place of atomic_add.
# expect: block with the largest sum
# base: rmsnorm_vector_in_two
#-    tl.atomic_add(total_ptr, tl.sum(x * x, axis=0))
#+    tl.atomic_max(total_ptr, tl.sum(x * x, axis=0))
