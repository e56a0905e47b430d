# A grid of 2^62 programs, as 64-bit arithmetic takes for few.
# verdict: runtime_error
# expect: where a GPU takes
# shared: forging
# shared: plan
def forge(plan):
    for launch in launches(plan):
        launch["grid"] = [1 << 31, 1 << 16, 1 << 15]
# shared: forged
