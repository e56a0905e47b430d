# A grid whose extents are a fraction, a text and nothing.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Input should be a valid integer
# shared: forging
# shared: plan
def forge(plan):
    for launch in launches(plan):
        launch["grid"] = [0.5, "1", None]
# shared: forged
