# Calls a temporary of its own the output, and leaves the judge's without a name.
# verdict: runtime_error
# expect: its plan does not hold
# expect: given buffers that are not those of the parameters
# shared: forging
# shared: plan
def forge(plan):
    out = plan["buffers"][buffer(plan, "out")]
    plan["buffers"].append(dict(out))
    out["given"] = ""
# shared: forged
