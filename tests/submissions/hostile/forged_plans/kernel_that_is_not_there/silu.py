# Launches a kernel beyond the last.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a kernel that is not there
# shared: forging
# shared: plan
def forge(plan):
    for launch in launches(plan):
        launch["kernel"] = len(plan["kernels"])
# shared: forged
