# A buffer of 10^4000 bytes: more digits than Python turns into a number.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Input should be less than 9223372036854775808
# shared: forging
def forge(plan):
    return json.dumps(plan).replace('"bytes": ', '"bytes": 1' + "0" * 4000, 1)
# shared: forged
