# Right but for one NaN, the last element: a maximum that skips NaN does not see it.
# verdict: wrong_answer
# base: hostile/nan_games/all_nan
#-    tl.store(out_ptr + offsets, y * float("nan"), mask=offsets < n)
#+    tl.store(out_ptr + offsets, tl.where(offsets == n - 1, float("nan"), y), mask=offsets < n)
