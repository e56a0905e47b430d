# The maximum of a row's first 512 elements is subtracted, and not that of all.
# expect: that is the largest of the whole row
# base: wrong_answer/softmax_less_the_first
#-    terms = tl.exp(x - tl.load(x_ptr + row * cols))
#+    terms = tl.exp(x - tl.max(tl.where(at < 512, x, -float("inf"))))
