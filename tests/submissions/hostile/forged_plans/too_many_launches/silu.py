# The right launch, more often than a plan has operations.
# verdict: runtime_error
# expect: its plan does not hold
# expect: List should have at most 16384 items
# shared: forging
# shared: plan
def forge(plan):
    plan["first"] = launches(plan) * 16_385
# shared: forged
