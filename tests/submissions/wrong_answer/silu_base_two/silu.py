# exp2 is used for exp.
# expect: tl.exp2 is not tl.exp
# never: no pattern
# base: silu
#-    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    mask = offsets < n
#+    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
#+    tl.store(out_ptr + offsets, x / (1 + tl.exp2(-x)), mask=mask)
