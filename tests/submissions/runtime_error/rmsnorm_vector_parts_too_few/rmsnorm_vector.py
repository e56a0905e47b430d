# Two parts are allocated, whatever the number of programs.
# expect: allocated for as many
# never: number of columns
# base: rmsnorm_vector_in_two
#-    tl.atomic_add(total_ptr, tl.sum(x * x, axis=0))
#+    tl.atomic_add(total_ptr + tl.program_id(0), tl.sum(x * x, axis=0))
#
#-    total = torch.zeros(1, device=x.device)
#+    total = torch.zeros(2, device=x.device)
