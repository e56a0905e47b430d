# A table of straight lines instead of an exponential.
# verdict: wrong_answer
# base: hostile/nan_games/all_nan
#-    tl.store(out_ptr + offsets, y * float("nan"), mask=offsets < n)
#+    tl.store(out_ptr + offsets, x * tl.minimum(tl.maximum(x / 6 + 0.5, 0.0), 1.0), mask=offsets < n)
