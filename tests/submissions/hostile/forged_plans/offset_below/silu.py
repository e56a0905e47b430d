# The kernel's output begins before its buffer.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Input should be greater than or equal to 0
# shared: forging
# shared: plan
def forge(plan):
    for launch in launches(plan):
        launch["arguments"][1]["offset"] = -4096
# shared: forged
