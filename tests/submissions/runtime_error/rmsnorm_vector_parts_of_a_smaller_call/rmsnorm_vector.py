# The tensor for the blocks' parts is kept from the first call, which was smaller.
# expect: was allocated before this call, in line
# never: does the mask compare
# base: rmsnorm_vector_in_two
#-    tl.atomic_add(total_ptr, tl.sum(x * x, axis=0))
#+    tl.store(total_ptr + tl.program_id(0), tl.sum(x * x, axis=0))
#
#-    rms = tl.sqrt(tl.load(total_ptr) / n + eps)
#+    total = 0.0
#+    for part in range(tl.num_programs(0)):
#+        total += tl.load(total_ptr + part)
#+    rms = tl.sqrt(total / n + eps)
#
#-def rmsnorm_vector(x, weight, eps, out):
#+parts = []
#+
#+
#+def rmsnorm_vector(x, weight, eps, out):
#
#-    total = torch.zeros(1, device=x.device)
#-    grid = (triton.cdiv(n, 1024),)
#+    grid = (triton.cdiv(n, 1024),)
#+    if not parts:
#+        parts.append(torch.empty(grid, device=x.device))
#+    total = parts[0]
