# A line number of a million digits, which takes a careless reader minutes.
# verdict: runtime_error
# expect: its plan does not hold
# expect: number out of range
# shared: forging
def forge(plan):
    return json.dumps(plan).replace('"line": ', '"line": ' + "9" * 1_000_000, 1)
# shared: forged
