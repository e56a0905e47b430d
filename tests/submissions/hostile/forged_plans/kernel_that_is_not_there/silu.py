# Launches a kernel beyond the last.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a kernel that is not there
# base: hostile/forged_plans/buffer_that_is_not_there
#-        launch["arguments"][1]["buffer"] = 65_535
#+        launch["kernel"] = len(plan["kernels"])
