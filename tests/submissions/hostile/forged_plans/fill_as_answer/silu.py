# No launch at all: the output is filled with its mean.
# verdict: wrong_answer, runtime_error
# shared: forging
# shared: plan
def forge(plan):
    target = {"buffer": buffer(plan, "out"), "shape": [plan["buffers"][buffer(plan, "out")]["bytes"] // 4],
              "strides": [1], "dtype": "float32"}
    plan["first"] = [{"op": "fill", "target": target, "value": 0.2066}]
    plan["steady"] = None
# shared: forged
