# Python's print in a kernel, to look at a block.
# expect: print takes a text first
# expect: tl.device_print
# never: odd
# never: type error
# base: silu
#-    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    mask = offsets < n
#+    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
#+    print(x)
#+    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)
