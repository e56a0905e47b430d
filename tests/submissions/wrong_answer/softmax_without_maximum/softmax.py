# No maximum is subtracted.
# expect: maximum
# never: precision
# base: wrong_answer/softmax_powers_of_two
#-    e = tl.exp2(x - top)
#+    e = tl.exp(x)
