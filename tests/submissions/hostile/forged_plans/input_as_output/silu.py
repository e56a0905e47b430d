# Swaps the names of input and output, so that the judge would compare what it drew.
# verdict: runtime_error
# expect: its plan does not hold
# expect: given buffers that are not those of the parameters
# shared: forging
# shared: plan
def forge(plan):
    x, out = plan["buffers"][buffer(plan, "x")], plan["buffers"][buffer(plan, "out")]
    x["given"], out["given"] = "out", "x"
# shared: forged
