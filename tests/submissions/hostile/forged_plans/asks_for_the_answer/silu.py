# Names a third parameter, "expected", and copies it.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a given buffer that no parameter has
# shared: forging
# shared: plan
def forge(plan):
    out = plan["buffers"][buffer(plan, "out")]
    plan["buffers"].append({**out, "given": "expected"})
    for launch in launches(plan):
        launch["arguments"][0]["buffer"] = len(plan["buffers"]) - 1
# shared: forged
