# Two plans, one after the other: which of them is meant?
# verdict: runtime_error
# expect: its plan does not hold
# expect: trailing characters
# shared: forging
def forge(plan):
    return json.dumps(plan) * 2
# shared: forged
