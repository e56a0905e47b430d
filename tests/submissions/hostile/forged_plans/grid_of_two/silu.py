# A grid of two numbers for a launch, and of four for the next.
# verdict: runtime_error
# expect: its plan does not hold
# expect: Field required
# shared: forging
# shared: plan
def forge(plan):
    plan["first"] = [{**one, "grid": one["grid"][:2]} for one in plan["first"]]
    plan["first"] += [{**one, "grid": [1, 1, 1, 1]} for one in plan["first"]]
# shared: forged
