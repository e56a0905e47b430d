# No launch at all: the output's contents stand in the plan, as zeros.
# verdict: wrong_answer, runtime_error, policy_violation
# shared: forging
# shared: plan
def forge(plan):
    plan["first"] = [{"op": "data", "buffer": buffer(plan, "out"), "contents": "AAAAAA=="}]
    plan["steady"] = None
# shared: forged
