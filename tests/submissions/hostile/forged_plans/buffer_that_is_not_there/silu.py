# The output is buffer 65,535.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a buffer that is not there
# shared: forging
# shared: plan
def forge(plan):
    for launch in launches(plan):
        launch["arguments"][1]["buffer"] = 65_535
# shared: forged
