# A grid of 2^62 programs, as 64-bit arithmetic takes for few.
# verdict: runtime_error
# expect: where a GPU takes
# base: hostile/forged_plans/buffer_that_is_not_there
#-        launch["arguments"][1]["buffer"] = 65_535
#+        launch["grid"] = [1 << 31, 1 << 16, 1 << 15]
