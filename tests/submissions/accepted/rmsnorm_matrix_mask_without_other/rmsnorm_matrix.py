# The loads have a mask and no `other`: of x, what masked lanes hold goes into the sum; of the weight, nowhere.
# expect: The load of `x_ptr` in line 13 has a mask and no `other`, and the answer depends on the lanes that the mask
# never: The load of `w_ptr`
# base: rmsnorm_matrix
#-    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
#-    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
#+    x = tl.load(x_ptr + row * n_cols + cols, mask=mask)
#+    w = tl.load(w_ptr + cols, mask=mask)
