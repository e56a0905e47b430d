# A hundred thousand buffers of a byte.
# verdict: runtime_error
# expect: its plan does not hold
# expect: List should have at most 1024 items after validation
# shared: forging
def forge(plan):
    plan["buffers"] += [{"bytes": 1}] * 100_000
# shared: forged
