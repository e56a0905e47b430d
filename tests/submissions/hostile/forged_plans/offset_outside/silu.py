# Adds 4 GiB to the address at which the kernel finds its output: another's memory, on a GPU.
# verdict: runtime_error
# expect: after its memory
# base: hostile/forged_plans/buffer_that_is_not_there
#-        launch["arguments"][1]["buffer"] = 65_535
#+        launch["arguments"][1]["offset"] = 1 << 32
