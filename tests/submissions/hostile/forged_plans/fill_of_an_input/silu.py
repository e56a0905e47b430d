# Fills the input with zeros, for which zeros are the right answer; then the kernel runs.
# verdict: runtime_error
# expect: its plan does not hold
# expect: an input is written
# shared: forging
# shared: plan
def forge(plan):
    view = {"buffer": buffer(plan, "x"), "shape": [plan["buffers"][buffer(plan, "x")]["bytes"] // 4], "strides": [1],
            "dtype": "float32"}
    plan["first"].insert(0, {"op": "fill", "target": view, "value": 0.0})
# shared: forged
