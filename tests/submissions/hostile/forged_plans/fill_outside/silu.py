# After the right launch, a fill of a view that is a thousand times as large as its buffer.
# verdict: runtime_error
# expect: after its memory
# shared: forging
# shared: plan
def forge(plan):
    view = {"buffer": buffer(plan, "out"), "shape": [1 << 30], "strides": [1], "dtype": "float32"}
    plan["first"].append({"op": "fill", "target": view, "value": 0.0})
# shared: forged
