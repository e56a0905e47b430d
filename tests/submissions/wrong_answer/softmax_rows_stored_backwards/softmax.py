# The answer of each row goes to the row as far from the end.
# expect: that of another row: row 0 holds what belongs to row
# base: wrong_answer/softmax_powers_of_two
#-    e = tl.exp2(x - top)
#+    e = tl.exp(x - top)
#
#-    tl.store(out_ptr + row * cols + offs, e / total, mask=mask)
#+    back = tl.num_programs(0) - 1 - row
#+    tl.store(out_ptr + back * cols + offs, e / total, mask=mask)
