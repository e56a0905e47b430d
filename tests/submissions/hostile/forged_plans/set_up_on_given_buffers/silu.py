# Does the work in the set-up, which nobody times.
# verdict: runtime_error
# expect: its plan does not hold
# expect: setup touches a given buffer
# shared: forging
def forge(plan):
    plan["setup"], plan["first"], plan["steady"] = plan["first"], [], None
# shared: forged
