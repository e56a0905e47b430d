# A grid of minus one program.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Input should be greater than or equal to 0
# shared: forging
# shared: plan
def forge(plan):
    for launch in launches(plan):
        launch["grid"] = [-1, 1, 1]
# shared: forged
