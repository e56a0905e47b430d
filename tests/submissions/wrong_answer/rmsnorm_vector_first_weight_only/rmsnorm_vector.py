# Every element is multiplied by the first weight.
# expect: multiplied by weight[0]
# never: tl.program_id
# never: only offset 0
# base: rmsnorm_vector_in_two
#-    w = tl.load(w_ptr + offs, mask=mask, other=0.0)
#+    w = tl.load(w_ptr)
