# The pointer is indexed like an array.
# expect: not indexed with [...]
# expect: tl.load(pointer + offsets
# never: decorate it
# base: silu
#-    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    mask = offsets < n
#+    x = x_ptr[offsets]
#+    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)
