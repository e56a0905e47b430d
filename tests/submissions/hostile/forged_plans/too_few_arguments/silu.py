# A launch without arguments: the kernel would take what lies on the stack.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a launch with another number of arguments than its kernel takes
# shared: forging
# shared: plan
def forge(plan):
    for launch in launches(plan):
        launch["arguments"] = []
# shared: forged
