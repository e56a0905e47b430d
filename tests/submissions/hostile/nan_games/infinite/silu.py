# Infinity everywhere: infinite minus infinite, or a relative error by an infinite norm.
# verdict: wrong_answer
# base: hostile/nan_games/all_nan
#-    tl.store(out_ptr + offsets, y * float("nan"), mask=offsets < n)
#+    tl.store(out_ptr + offsets, tl.where(y > 0, float("inf"), float("-inf")), mask=offsets < n)
