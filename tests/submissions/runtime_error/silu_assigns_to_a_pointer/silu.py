# The result is assigned to the pointer's elements like an array's.
# expect: not indexed with [...]
# expect: tl.store(pointer + offsets
# never: shapes and types
# base: silu
#-    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    mask = offsets < n
#+    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
#+    out_ptr[offsets] = x * tl.sigmoid(x)
