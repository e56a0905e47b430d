# The first half of a plan.
# verdict: runtime_error
# expect: its plan does not hold
# expect: EOF while parsing a string
# shared: forging
def forge(plan):
    text = json.dumps(plan)
    return text[: len(text) // 2]
# shared: forged
