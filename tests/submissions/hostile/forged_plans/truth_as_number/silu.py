# True and false where numbers are expected, which Python takes for one and zero.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Input should be a valid integer
# shared: forging
# shared: plan
def forge(plan):
    for launch in launches(plan):
        launch["grid"] = [True, True, True]
        launch["kernel"] = False
# shared: forged
