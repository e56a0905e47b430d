# Each program turns its block around in scratch memory, with a barrier between.
# never: barrier
# base: wrong_answer/silu_reads_another_lanes_element
#-    tl.store(scratch_ptr + first + turned, x, mask=first + turned < n)
#+    tl.store(scratch_ptr + first + turned, x, mask=first + turned < n)
#+    tl.debug_barrier()
