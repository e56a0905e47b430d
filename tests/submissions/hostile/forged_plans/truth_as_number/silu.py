# True and false where numbers are expected, which Python takes for one and zero.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Input should be a valid integer
# base: hostile/forged_plans/buffer_that_is_not_there
#-        launch["arguments"][1]["buffer"] = 65_535
#+        launch["grid"] = [True, True, True]
#+        launch["kernel"] = False
