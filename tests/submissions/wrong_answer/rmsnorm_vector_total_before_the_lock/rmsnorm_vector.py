# The total is loaded before the lock is taken under which it is stored: what others add in between is lost.
# expect: may come before
# expect: the lock taken
# never: stride
# base: accepted/rmsnorm_vector_total_under_a_lock
#-    part = tl.sum(x * x, axis=0)
#+    part = tl.sum(x * x, axis=0)
#+    total = tl.load(total_ptr)
#-    tl.store(total_ptr, tl.load(total_ptr) + part)
#+    tl.store(total_ptr, total + part)
