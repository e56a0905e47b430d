# Constant contents of 48 KiB for a buffer of four bytes.
# verdict: runtime_error
# expect: its plan does not hold
# expect: data beyond its buffer
# shared: forging
# shared: plan
def forge(plan):
    plan["buffers"].append({"bytes": 4})
    plan["first"].insert(0, {"op": "data", "buffer": len(plan["buffers"]) - 1, "contents": "AAAA" * 16384})
# shared: forged
