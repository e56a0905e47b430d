# The kernel's output begins before its buffer.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Input should be greater than or equal to 0
# base: hostile/forged_plans/buffer_that_is_not_there
#-        launch["arguments"][1]["buffer"] = 65_535
#+        launch["arguments"][1]["offset"] = -4096
