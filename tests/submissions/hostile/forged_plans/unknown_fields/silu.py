# Fields that a careless reader would believe: points, a verdict, a time.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Extra inputs are not permitted
# shared: forging
def forge(plan):
    plan.update(score=100, verdict="accepted", trusted=True, seconds=1e-9)
# shared: forged
