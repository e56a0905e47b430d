# Brackets that are closed, 3,000 deep, where a number is expected.
# verdict: runtime_error
# expect: its plan does not hold
# expect: recursion limit exceeded
# shared: forging
def forge(plan):
    return json.dumps(plan).replace('"line": ', '"line": ' + "[" * 3000 + "]" * 3000 + ', "column": ', 1)
# shared: forged
