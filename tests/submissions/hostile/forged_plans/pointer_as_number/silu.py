# Passes an address of its own choice as a number, for a kernel that says it takes one.
# verdict: runtime_error
# expect: its plan does not hold
# expect: an integer that does not fit its kernel's signature
# base: hostile/forged_plans/buffer_that_is_not_there
#-        launch["arguments"][1]["buffer"] = 65_535
#+        launch["arguments"][1] = {"kind": "integer", "type": "i64", "value": 0x7FFF_0000_0000}
