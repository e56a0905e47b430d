# A fill of a view whose extent is 0 in 64 bits: 2^32 rows that lie 2^32 elements apart.
# verdict: runtime_error
# expect: after its memory
# shared: forging
# shared: plan
def forge(plan):
    view = {"buffer": buffer(plan, "out"), "shape": [1 << 32, 1], "strides": [1 << 32, 1], "dtype": "float32"}
    plan["first"].append({"op": "fill", "target": view, "value": 0.0})
# shared: forged
