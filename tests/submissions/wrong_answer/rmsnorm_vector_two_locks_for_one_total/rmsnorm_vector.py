# Even and odd programs take different locks and add to the same total.
# expect: may come before
# expect: on the same address
# never: stride
# base: accepted/rmsnorm_vector_total_under_a_lock
#-    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
#+    while tl.atomic_cas(lock_ptr + tl.program_id(0) % 2, 0, 1) == 1:
#-    tl.atomic_xchg(lock_ptr, 0)
#+    tl.atomic_xchg(lock_ptr + tl.program_id(0) % 2, 0)
#-    locks = torch.zeros(1, dtype=torch.int32, device=x.device)
#+    locks = torch.zeros(2, dtype=torch.int32, device=x.device)
