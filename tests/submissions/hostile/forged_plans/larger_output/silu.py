# Tells that the output's buffer holds a gibibyte, so that everything lies inside.
# verdict: runtime_error
# expect: its plan does not hold
# expect: given buffers that are not those of the parameters
# shared: forging
# shared: plan
def forge(plan):
    plan["buffers"][buffer(plan, "out")]["bytes"] = 1 << 30
# shared: forged
