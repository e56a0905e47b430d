# The first call keeps its answer in a temporary; the steady one copies it, whatever the inputs are by then.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a copy where none is allowed
# shared: forging
# shared: plan
def forge(plan):
    size = plan["buffers"][buffer(plan, "out")]["bytes"]
    view = {"shape": [size // 4], "strides": [1], "dtype": "float32"}
    here, there = {**view, "buffer": buffer(plan, "out")}, {**view, "buffer": len(plan["buffers"])}
    plan["buffers"].append({"bytes": size})
    plan["steady"] = [{"op": "copy", "source": there, "target": here}]
    plan["first"].append({"op": "copy", "source": here, "target": there})
# shared: forged
