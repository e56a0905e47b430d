# tl.arange with a step, as range and torch.arange have one.
# expect: tl.arange takes a start and an end, and no step
# never: passed twice
# base: silu
#-    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK, 1)
