# The weight is loaded at the row's index.
# expect: weight
# expect: indexed by row
# never: too far
# never: a mask
# base: rmsnorm_matrix
#-    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
#+    w = tl.load(w_ptr + row)
