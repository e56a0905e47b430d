# NaN and infinity where sizes are expected.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Input should be a valid integer
# shared: forging
def forge(plan):
    plan["buffers"][0]["bytes"] = float("nan")
    plan["buffers"][1]["bytes"] = float("inf")
# shared: forged
