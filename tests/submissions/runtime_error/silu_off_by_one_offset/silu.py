# Offsets start at one, so the last program touches one element past the end.
# expect: One element too far
# base: silu
#-    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#-    x = tl.load(x_ptr + offs, mask=offs < n)
#-    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)
#+    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + 1
#+    mask = offs <= n
#+    x = tl.load(x_ptr + offs, mask=mask)
#+    tl.store(out_ptr + offs, x * tl.sigmoid(x), mask=mask)
