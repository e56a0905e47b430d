# Says that the output lies in pinned memory of the host.
# verdict: runtime_error
# expect: its plan does not hold
# expect: given buffers that are not those of the parameters
# shared: forging
# shared: plan
def forge(plan):
    plan["buffers"][buffer(plan, "out")]["place"] = "pinned"
    plan["first"] = []
    plan["steady"] = None
# shared: forged
