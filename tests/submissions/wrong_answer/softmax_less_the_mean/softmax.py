# The mean of a row is subtracted, and not its maximum.
# expect: that is the largest of the whole row
# base: wrong_answer/softmax_less_the_first
#-    terms = tl.exp(x - tl.load(x_ptr + row * cols))
#+    terms = tl.exp(x - tl.sum(tl.where(at < cols, x, 0.0)) / cols)
