# An operation that no plan has: it would run a program.
# verdict: runtime_error
# expect: its plan does not hold
# expect: 'fill', 'data', 'copy', 'launch'
# shared: forging
def forge(plan):
    plan["first"].append({"op": "system", "command": "true"})
# shared: forged
