# A launch without arguments: the kernel would take what lies on the stack.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a launch with another number of arguments than its kernel takes
# base: hostile/forged_plans/buffer_that_is_not_there
#-        launch["arguments"][1]["buffer"] = 65_535
#+        launch["arguments"] = []
