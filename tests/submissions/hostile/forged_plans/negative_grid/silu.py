# A grid of minus one program.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Input should be greater than or equal to 0
# base: hostile/forged_plans/buffer_that_is_not_there
#-        launch["arguments"][1]["buffer"] = 65_535
#+        launch["grid"] = [-1, 1, 1]
