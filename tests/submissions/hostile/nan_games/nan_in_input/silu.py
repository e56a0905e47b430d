# Puts NaN into the input and the output: the reference would be NaN as well.
# verdict: wrong_answer
# base: hostile/nan_games/all_nan
#-    tl.store(out_ptr + offsets, y * float("nan"), mask=offsets < n)
#+    tl.store(x_ptr + offsets, x * float("nan"), mask=offsets < n)
#+    tl.store(out_ptr + offsets, x * float("nan"), mask=offsets < n)
