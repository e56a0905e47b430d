# Puts numbers of its own into the input, for which it knows the answer.
# verdict: runtime_error
# expect: its plan does not hold
# expect: an input is written
# shared: forging
# shared: plan
def forge(plan):
    plan["first"].insert(0, {"op": "data", "buffer": buffer(plan, "x"), "contents": "AAAAAA=="})
# shared: forged
