# Each program leaves its block in scratch memory and works on that of the next one, which may not be there yet.
# expect: in a different order they give a different answer
# base: wrong_answer/silu_reads_another_lanes_element
#-    first, lanes = tl.program_id(0) * BLOCK, tl.arange(0, BLOCK)
#-    i, turned = first + lanes, BLOCK - 1 - lanes
#-    x = tl.gather(tl.load(x_ptr + i, mask=i < n), turned, 0)
#-    tl.store(scratch_ptr + first + turned, x, mask=first + turned < n)
#+    pid, lanes = tl.program_id(0), tl.arange(0, BLOCK)
#+    i = pid * BLOCK + lanes
#+    tl.store(scratch_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
#+    i = (pid + 1) % tl.num_programs(0) * BLOCK + lanes
