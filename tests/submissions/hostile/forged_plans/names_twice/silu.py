# Each launch names its grid twice: a reader that takes the first sees another than one that takes the last.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Extra inputs are not permitted
# shared: forging
def forge(plan):
    return json.dumps(plan).replace('"grid": [', '"grid": [0, 0, 0], "grid": [0, 1, 1], "ignored": [')
# shared: forged
