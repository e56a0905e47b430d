# The last program at a counter adds up what all have stored, but the counter is relaxed.
# expect: The atomic operation in line 15 does not order
# expect: Leave sem and scope out
# base: accepted/rmsnorm_vector_last_program
#-    if tl.atomic_add(tickets_ptr, 1) == tl.num_programs(0) - 1:
#+    if tl.atomic_add(tickets_ptr, 1, sem="relaxed") == tl.num_programs(0) - 1:
